import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "agent-state-import-";
/** No import lasts so long: it ends when it makes no progress, and all that it copies is bounded. */
const ABANDONED_MS = 24 * 3_600_000;

const own = new Set<string>();

/** A folder of the server's own for one import; it is removed when the work ends. What a server that died has left is removed first. */
export async function inTempFolder<T>(work: (folder: string) => Promise<T>, parent: string = tmpdir()): Promise<T> {
  await sweep(parent).catch(() => {});
  const folder = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  own.add(folder);
  try {
    return await work(folder);
  } finally {
    own.delete(folder);
    // A process that was just killed may still write there: the next import removes what remains.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  }
}

async function sweep(parent: string): Promise<void> {
  for (const name of (await readdir(parent)).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(parent, name);
    const pid = Number(name.slice(PREFIX.length).split("-")[0]);
    // In a new container a server may have the number of the one that died.
    const isLeft = !own.has(folder) && (pid === process.pid || !isAlive(pid) || Date.now() - (await stat(folder)).mtimeMs > ABANDONED_MS);
    if (isLeft) await rm(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
