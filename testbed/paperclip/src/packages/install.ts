import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { adapterPackages } from "../../../../packages/adapters.ts";
import { contentKey } from "../../../../scripts/content-key.ts";
import { npmInstall, ROOT } from "../server/release.ts";
import { serverUser } from "../server/user.ts";
import { cached } from "./packed-cache.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 5 * 60_000;
/** Folders of what we publish, below packages/. */
const PACKAGES = [...adapterPackages.map(({ folder }) => folder), "cli"];
/** Name of the operator's command line, as a package and as a command. */
export const CLI = "paperclip-k8s";

/** Our packages as npm installs them; the adapters are ready for a server's "install by local path". */
export interface PackedAdapters {
  /** The node_modules with the adapters, the command line and what they need. */
  readonly folder: string;
  /** Names of the adapters' packages in it, of our own types. */
  readonly names: readonly string[];
  /** Of those that take a built-in type's place. */
  readonly inPlace: readonly string[];
}

export const pathsOf = ({ folder, names }: Pick<PackedAdapters, "folder" | "names">): string[] => names.map((name) => join(folder, name));

/**
 * Builds and packs our packages and installs the tarballs, so that what is tested is what would be published; what was packed from the same
 * sources before is used again. PACKED_ADAPTERS names the node_modules of an earlier call, to be used as it is.
 */
export async function packAdapters(say: (line: string) => void = () => {}): Promise<PackedAdapters> {
  const folder = process.env.PACKED_ADAPTERS || join(await cached(contentKey(ROOT), (place) => packInto(place, say)), "node_modules");
  const found = readdirSync(folder).filter((name) => name.startsWith("paperclip-adapter-"));
  return { folder, names: found.filter((name) => !isInPlace(name)), inPlace: found.filter(isInPlace) };
}

async function packInto(place: string, say: (line: string) => void): Promise<void> {
  const begun = Date.now();
  say("building and packing the adapters, once for these sources");
  await run(process.execPath, ["scripts/build.ts"], { cwd: ROOT, timeout: TIMEOUT_MS });
  const packed = await Promise.all(PACKAGES.map((folder) => pack(folder, place)));
  // Relative, because the folder gets its final name when it is complete.
  await npmInstall(place, Object.fromEntries(packed.map(({ name, filename }) => [name, `file:${filename}`])));
  await setOwnership(place);
  say(`adapters built, packed and installed from their tarballs (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
}

const isInPlace = (name: string): boolean => name.endsWith("-local-k8s");

async function pack(folder: string, place: string): Promise<{ readonly name: string; readonly filename: string }> {
  const options = { cwd: join(ROOT, "packages", folder), timeout: TIMEOUT_MS };
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", place], options);
  return Object.values(JSON.parse(stdout) as Record<string, { filename: string; name: string }>)[0]!;
}

/** The server's user reads it. */
async function setOwnership(place: string): Promise<void> {
  const user = serverUser();
  if (user !== null) await run("chown", ["-R", `${user.uid}:${user.gid}`, place], { timeout: TIMEOUT_MS });
}
