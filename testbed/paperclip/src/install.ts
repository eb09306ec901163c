import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { npmInstall, ROOT } from "./release.ts";
import { serverUser } from "./user.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 5 * 60_000;

/** An adapter as npm installs it, ready for a server's "install by local path". */
export interface PackedAdapter {
  /** Folder of the installed package, its dependencies beside it. */
  readonly path: string;
  remove(): Promise<void>;
}

/** Builds and packs one of our adapters and installs the tarball, so that what is tested is what would be published. */
export async function packAdapter(folder: string, say: (line: string) => void = () => {}): Promise<PackedAdapter> {
  const begun = Date.now();
  const place = await realpath(await mkdtemp(join(tmpdir(), "packed-adapter-")));
  const atExit = () => rmSync(place, { recursive: true, force: true });
  process.once("exit", atExit);
  const remove = async () => {
    await rm(place, { recursive: true, force: true });
    process.off("exit", atExit);
  };
  try {
    await run(process.execPath, ["scripts/build.ts"], { cwd: ROOT, timeout: TIMEOUT_MS });
    const source = join(ROOT, "packages", folder);
    const packed = await run("npm", ["pack", "--json", "--pack-destination", place], { cwd: source, timeout: TIMEOUT_MS });
    const { filename, name } = Object.values(JSON.parse(packed.stdout) as Record<string, { filename: string; name: string }>)[0]!;
    await npmInstall(place, { [name]: `file:${join(place, filename)}` });
    await handOver(place);
    say(`built, packed and installed ${filename} in ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    return { path: join(place, "node_modules", name), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The server's user reads it and, after we gave up root, removes it. */
async function handOver(place: string): Promise<void> {
  const user = serverUser();
  if (user !== null) await run("chown", ["-R", `${user.uid}:${user.gid}`, place], { timeout: TIMEOUT_MS });
}
