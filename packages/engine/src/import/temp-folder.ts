import { mkdtempSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sharedState } from "./shared-state.ts";

const PREFIX = "agent-state-import-";
/** No import lasts so long: it ends when it makes no progress, and all that it copies is bounded. */
const ABANDONED_MS = 24 * 3_600_000;

/** A folder of the server's own for one import; it is removed when the work ends. What a server that died has left is removed first. */
export async function inTempFolder<T>(work: (folder: string) => Promise<T>, parent: string = tmpdir()): Promise<T> {
  const { token, folders } = sharedState();
  const own = `${PREFIX}${process.pid}-${token}-`;
  await sweep(parent, own).catch(() => {});
  // In one step, so that no sweep meets a folder that is not noted yet.
  const folder = mkdtempSync(join(parent, own));
  folders.add(folder);
  try {
    return await work(folder);
  } finally {
    folders.delete(folder);
    // A process that was just killed may still write there: the next import removes what remains.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  }
}

/** Another server may use the same folder, and have the same number in its own container: what is not this process's goes by its age. */
async function sweep(parent: string, own: string): Promise<void> {
  for (const name of (await readdir(parent)).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(parent, name);
    const isLeft = name.startsWith(own) ? !sharedState().folders.has(folder) : await isOld(folder);
    if (isLeft) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

const isOld = (folder: string): Promise<boolean> =>
  stat(folder).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > ABANDONED_MS,
    () => false,
  );
