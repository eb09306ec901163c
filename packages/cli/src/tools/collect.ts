import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { copyToolsText } from "@paperclip-k8s/runner/copy-tools-text";
import { ElfError, type Machine } from "./elf.ts";
import { type ElfFile, elfFile, findLibraries } from "./libraries.ts";
import { LIBRARIES, LOADER, relocateLoader, setInterpreter } from "./relocate.ts";

/** Why no folder of tools could be made, for people. */
export class ToolsError extends Error {
  override readonly name = "ToolsError";
}

export interface ToolsOrder {
  readonly out: string;
  /** Where pods have the folder. */
  readonly mount: string;
  /** Paths of the programs by the names that they get. */
  readonly programs: Readonly<Record<string, string>>;
}

/** Beside the programs, for people and for checks: what is in the folder. */
export interface ToolsManifest {
  readonly format: 1;
  readonly mountPath: string;
  readonly machine: Machine;
  /** The first line that each answers to `--version`; null = it was not asked. */
  readonly programs: Readonly<Record<string, string | null>>;
  readonly libraries: readonly string[];
}

/** Makes a folder of programs that start on any image of this processor, whatever C library it has. */
export async function collectTools({ out, mount, programs }: ToolsOrder): Promise<ToolsManifest> {
  if (existsSync(out) && readdirSync(out).length > 0) throw new ToolsError(`${out} is not empty`);
  try {
    const found = Object.entries(programs).map(([name, path]) => ({ name, elf: elfFile(realpathSync(path)) }));
    const elfs = found.map(({ elf }) => elf);
    const { machine, loader } = common(elfs);
    const libraries = findLibraries(elfs);
    for (const folder of ["bin", LIBRARIES, `.${dirname(mount)}`]) mkdirSync(join(out, folder), { recursive: true });
    for (const { name, elf } of found) setInterpreter(copy(elf.path, join(out, "bin", name)), elf, mount);
    for (const [name, { path }] of libraries) copy(path, join(out, LIBRARIES, name));
    if (loader !== null) {
      writeFileSync(join(out, LOADER), relocated(loader, mount));
      chmodSync(join(out, LOADER), 0o755);
    }
    writeFileSync(join(out, "copy.cjs"), copyToolsText);
    // In the tools image this folder is the root, so that the programs find their loader there too.
    symlinkSync(
      dirname(mount)
        .split("/")
        .slice(1)
        .map(() => "..")
        .join("/"),
      join(out, mount),
    );
    const versions = await askVersions({ out, mount, programs });
    const manifest: ToolsManifest = { format: 1, mountPath: mount, machine, programs: versions, libraries: [...libraries.keys()].sort() };
    writeFileSync(join(out, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    return manifest;
  } catch (error) {
    throw error instanceof ElfError ? new ToolsError(error.message, { cause: error }) : error;
  }
}

/** What all programs share: one loader can serve one C library only. */
function common(elfs: readonly ElfFile[]): { readonly machine: Machine; readonly loader: string | null } {
  const [first, ...others] = elfs;
  if (first === undefined) throw new ToolsError("there is no program to collect");
  const other = others.find(({ machine }) => machine !== first.machine);
  if (other !== undefined) throw new ToolsError(`${other.path} is for another processor than ${first.path}`);
  const dynamic = elfs.filter(({ interpreter }) => interpreter !== null);
  const musl = dynamic.find(({ interpreter }) => /musl/.test(interpreter?.path ?? ""));
  if (musl !== undefined)
    throw new ToolsError(`${musl.path} is built for musl; collect programs that are built for glibc: they run on both`);
  const loaders = [...new Set(dynamic.map(({ interpreter }) => realpathSync(interpreter?.path ?? "")))];
  if (loaders.length > 1) throw new ToolsError(`the programs start with different loaders: ${loaders.join(", ")}`);
  return { machine: first.machine, loader: loaders[0] ?? null };
}

function relocated(loader: string, mount: string): Buffer {
  try {
    return relocateLoader(readFileSync(loader), mount);
  } catch (error) {
    throw error instanceof ElfError ? new ElfError(`${loader} ${error.message}`) : error;
  }
}

function copy(from: string, to: string): string {
  copyFileSync(realpathSync(from), to);
  chmodSync(to, 0o755);
  return to;
}

const VERSION_MS = 60_000;

/** Starts the collected programs where that is possible; elsewhere Node, which must start, by its loader. */
async function askVersions({ out, mount, programs }: ToolsOrder): Promise<Record<string, string | null>> {
  const inPlace = existsSync(mount) && realpathSync(mount) === realpathSync(out);
  const ask = async (name: string): Promise<readonly [string, string | null]> => {
    const program = join(out, "bin", name);
    if (inPlace) return [name, await firstLine(program, ["--version"])];
    // A program that is started by its loader takes the loader for itself, which only Node does not mind.
    if (basename(program) !== "node") return [name, null];
    return [name, await firstLine(join(out, LOADER), ["--inhibit-cache", "--library-path", join(out, LIBRARIES), program, "--version"])];
  };
  return Object.fromEntries(await Promise.all(Object.keys(programs).map(ask)));
}

async function firstLine(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], { timeout: VERSION_MS, killSignal: "SIGKILL" });
    return stdout.trim().split("\n")[0]?.slice(0, 200) ?? "";
  } catch (error) {
    const { code, signal, stderr = "" } = error as { code?: unknown; signal?: unknown; stderr?: string };
    throw new ToolsError(`${program} was collected and does not start (${code ?? signal}): ${stderr.trim().slice(0, 400)}`);
  }
}
