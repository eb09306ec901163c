import { execFile } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { adapters } from "../../../packages/adapters.ts";
import { npmInstall, ROOT } from "./release.ts";
import { serverUser } from "./user.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 5 * 60_000;
/** Folders of what we publish, below packages/. */
const PACKAGES = [...Object.values(adapters).map(({ folder }) => folder), "cli"];
/** Name of the operator's command line, as a package and as a command. */
export const CLI = "paperclip-k8s";

/** Our packages as npm installs them; the adapters are ready for a server's "install by local path". */
export interface PackedAdapters {
  /** The node_modules with the adapters, the command line and what they need. */
  readonly folder: string;
  /** Names of the adapters' packages in it. */
  readonly names: readonly string[];
  remove(): Promise<void>;
}

export const pathsOf = ({ folder, names }: Pick<PackedAdapters, "folder" | "names">): string[] => names.map((name) => join(folder, name));

/**
 * Builds and packs our packages and installs the tarballs, so that what is tested is what would be published. PACKED_ADAPTERS names the
 * node_modules of an earlier call, to be used as it is.
 */
export async function packAdapters(say: (line: string) => void = () => {}): Promise<PackedAdapters> {
  const given = process.env.PACKED_ADAPTERS;
  if (given) return { folder: given, names: readdirSync(given).filter(isAdapter), remove: async () => {} };
  const begun = Date.now();
  const place = await realpath(await mkdtemp(join(tmpdir(), "packed-adapters-")));
  const atExit = () => rmSync(place, { recursive: true, force: true });
  process.once("exit", atExit);
  const remove = async () => {
    await rm(place, { recursive: true, force: true });
    process.off("exit", atExit);
  };
  try {
    await run(process.execPath, ["scripts/build.ts"], { cwd: ROOT, timeout: TIMEOUT_MS });
    const packed = await Promise.all(PACKAGES.map((folder) => pack(folder, place)));
    await npmInstall(place, Object.fromEntries(packed.map(({ name, filename }) => [name, `file:${join(place, filename)}`])));
    await setOwnership(place);
    say(`adapters built, packed and installed from their tarballs (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    return { folder: join(place, "node_modules"), names: packed.map(({ name }) => name).filter(isAdapter), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const isAdapter = (name: string): boolean => name.startsWith("paperclip-adapter-");

async function pack(folder: string, place: string): Promise<{ readonly name: string; readonly filename: string }> {
  const options = { cwd: join(ROOT, "packages", folder), timeout: TIMEOUT_MS };
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", place], options);
  return Object.values(JSON.parse(stdout) as Record<string, { filename: string; name: string }>)[0]!;
}

/** The server's user reads it and, after we gave up root, removes it. */
async function setOwnership(place: string): Promise<void> {
  const user = serverUser();
  if (user !== null) await run("chown", ["-R", `${user.uid}:${user.gid}`, place], { timeout: TIMEOUT_MS });
}
