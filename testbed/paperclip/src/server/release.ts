import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The hosts we promise to work with: the newest release and the one most operators have. */
export const VERSIONS = ["2026.916.1", "2026.824.1"] as const;
export type Version = (typeof VERSIONS)[number];

/** The release that somebody names on a command line. */
export function versionNamed(name: string): Version {
  const version = VERSIONS.find((known) => known === name);
  if (version === undefined) throw new Error(`--version ${name}: not one of ${VERSIONS.join(", ")}`);
  return version;
}

export const ROOT: string = fileURLToPath(new URL("../../../..", import.meta.url));
export const CACHE: string = join(ROOT, "node_modules/.cache/paperclip");
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const PROGRESS_MS = 15_000;

/** Installs a release from npm once; later calls only look. Returns the folder that holds its node_modules. */
export async function prepareRelease(version: Version, say: (line: string) => void = () => {}): Promise<string> {
  const folder = join(CACHE, version);
  // The server starts nothing when its path goes through a symlink.
  if (existsSync(folder)) return realpath(folder);
  await removeInterrupted(version);
  // Moved into place when complete: a folder with the version's name is never half an install.
  const partial = join(CACHE, `${version}.partial-${process.pid}`);
  await mkdir(partial, { recursive: true });
  const begun = Date.now();
  say(`installing Paperclip ${version} from npm (1.4 GB, 1 to 3 minutes, once)`);
  const progress = setInterval(
    () => say(`  npm is at work for ${Math.round((Date.now() - begun) / 1000)} s; ${stepOf(partial)}`),
    PROGRESS_MS,
  );
  try {
    await npmInstall(partial, { "@paperclipai/server": version });
    await rename(partial, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error; // else another process was faster
    });
  } finally {
    clearInterval(progress);
    await rm(partial, { recursive: true, force: true });
  }
  say(`installed Paperclip ${version} in ${Math.round((Date.now() - begun) / 1000)} s`);
  return realpath(folder);
}

/** npm loads all packages before it unpacks the first one, and links them when the last is there. */
function stepOf(folder: string): string {
  const count = countPackages(folder);
  return count === 0 ? "it loads the packages" : `${count} packages are unpacked`;
}

/** Those of the top level, which npm fills one by one. */
function countPackages(folder: string): number {
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) return 0;
  return readdirSync(modules).reduce((sum, name) => sum + (name.startsWith("@") ? readdirSync(join(modules, name)).length : 1), 0);
}

/** What the server's program becomes when Node has compiled it once; any user may write there. */
export const COMPILED: string = join(CACHE, "compiled");

/** A package.json of exact versions and its tree; npm's own words only when it fails. */
export async function npmInstall(folder: string, dependencies: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(join(folder, "package.json"), `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`);
  const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
  try {
    await promisify(execFile)("npm", args, { cwd: folder, timeout: INSTALL_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().slice(-2000) ?? "";
    throw new Error(`npm install of ${Object.keys(dependencies).join(", ")} failed: ${said}`, { cause: error });
  }
}

async function removeInterrupted(version: Version): Promise<void> {
  if (!existsSync(CACHE)) return;
  for (const name of readdirSync(CACHE)) {
    const pid = name.startsWith(`${version}.partial-`) ? Number(name.split("-").at(-1)) : Number.NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(CACHE, name), { recursive: true, force: true });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
