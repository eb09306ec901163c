import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Elf, ElfError, type Machine, readElf } from "./elf.ts";

// Finds the libraries that a program needs, as this machine's own loader would.

export interface ElfFile extends Elf {
  readonly path: string;
}

/** Opens a file and says which one it is if it is not usable. */
export function elfFile(path: string): ElfFile {
  const fd = openSync(path, "r");
  try {
    return { path, ...readElf(fd) };
  } catch (error) {
    throw error instanceof ElfError ? new ElfError(`${path} ${error.message}`) : error;
  } finally {
    closeSync(fd);
  }
}

const CACHE = "/etc/ld.so.cache";

/** Where libraries are looked for that no program names a folder for. */
const standardFolders = (machine: Machine): string[] => [
  ...["/lib", "/usr/lib", "/usr/local/lib"].map((folder) => `${folder}/${machine}-linux-gnu`),
  ...["/lib64", "/usr/lib64", "/usr/local/lib", "/lib", "/usr/lib"],
];

/** Those that the C library opens by itself, where it does: names in the network, and the end of a thread. */
const OPENED_LATER = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2", "libgcc_s.so.1"];

/** Every library that these programs need, by name. Throws and names the library that is missing. */
export function findLibraries(programs: readonly ElfFile[], cached = cachedLibraries(CACHE)): ReadonlyMap<string, ElfFile> {
  const found = new Map<string, ElfFile>();
  const loaders = new Set(programs.flatMap(({ interpreter }) => (interpreter === null ? [] : [basename(interpreter.path)])));
  const open = [...programs];
  for (let user = open.shift(); user !== undefined; user = open.shift()) {
    for (const name of user.needed) {
      if (found.has(name) || loaders.has(name)) continue;
      const library = find(name, user, cached);
      if (library === null) throw new ElfError(`${user.path} needs ${name}, which is not on this machine`);
      found.set(name, library);
      open.push(library);
    }
  }
  const [first] = programs.filter(({ interpreter }) => interpreter !== null);
  for (const name of first === undefined ? [] : OPENED_LATER) {
    const library = found.has(name) ? null : find(name, first as ElfFile, cached);
    if (library !== null) found.set(name, library);
  }
  return found;
}

function find(name: string, user: ElfFile, cached: ReadonlyMap<string, readonly string[]>): ElfFile | null {
  if (name.includes("/")) throw new ElfError(`${user.path} needs ${name} by its path, which cannot be moved`);
  const own = user.runPaths.map((folder) => folder.replace(/\$(ORIGIN|\{ORIGIN\})/g, dirname(user.path)));
  const places = [
    ...own.map((folder) => join(folder, name)),
    ...(cached.get(name) ?? []),
    ...standardFolders(user.machine).map((folder) => join(folder, name)),
  ];
  for (const path of places) {
    const library = existsSync(path) ? usable(path) : null;
    if (library?.machine === user.machine) return library;
  }
  return null;
}

/** Null = a file of that name that is no library: a text for the linker, or another processor's. */
function usable(path: string): ElfFile | null {
  try {
    return elfFile(path);
  } catch {
    return null;
  }
}

const MAGIC = "glibc-ld.so.cache1.1";
const CACHE_HEADER = 48;
const CACHE_ENTRY = 24;

/** The machine's list of libraries: paths by name. A file that is not there, or of another form, lists none. */
export function cachedLibraries(file: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const from = bytes.indexOf(MAGIC);
  if (from === -1 || bytes.length < from + CACHE_HEADER) return found;
  const room = Math.floor((bytes.length - from - CACHE_HEADER) / CACHE_ENTRY);
  const text = (at: number): string => {
    const end = bytes.indexOf(0, from + at);
    return end === -1 ? "" : bytes.toString("utf8", from + at, end);
  };
  for (let index = 0; index < Math.min(bytes.readUInt32LE(from + MAGIC.length), room); index++) {
    const at = from + CACHE_HEADER + index * CACHE_ENTRY;
    const name = text(bytes.readUInt32LE(at + 4));
    found.set(name, [...(found.get(name) ?? []), text(bytes.readUInt32LE(at + 8))]);
  }
  return found;
}
