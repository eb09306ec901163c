import { closeSync, fstatSync, openSync, readlinkSync, readSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path/posix";
import type { FolderEntry, Of, Place, TreeFile, TreeLimits } from "../protocol.ts";
import { kindOf, sortedEntries } from "./entries.ts";
import { type At, inFolder, orNull, READ_FLAGS } from "./in-folder.ts";
import { pause } from "./tail-loop.ts";

export async function readFile(root: string, { maxBytes, ...of }: Of<"readFile">): Promise<Buffer> {
  const found = find(root, of);
  return inFound(found, dirname(found.path), (at) => readWhole(at(basename(found.path)), maxBytes).bytes);
}

export async function readLast(root: string, { bytes, ...of }: Of<"readLast">): Promise<Buffer> {
  const found = find(root, of);
  return inFound(found, dirname(found.path), (at) =>
    withFile(at(basename(found.path)), (fd, { size }) => {
      const last = Buffer.alloc(Math.min(bytes, size));
      return last.subarray(0, readSync(fd, last, 0, last.length, size - last.length));
    }),
  );
}

export async function listFolder(root: string, of: Of<"listFolder">): Promise<FolderEntry[]> {
  const found = find(root, of);
  return inFound(found, found.path, (at) =>
    sortedEntries(at()).map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
      target: entry.isSymbolicLink() ? readlinkSync(at(entry.name)) : null,
    })),
  );
}

export async function readTree(root: string, { limits, ...of }: Of<"readTree">): Promise<TreeFile[]> {
  const found = find(root, of);
  try {
    return await inFound(found, found.path, (at) => filesBelow(at, limits));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    return inFound(found, dirname(found.path), (at) => [treeFile("", at(basename(found.path)), limits.fileBytes)]);
  }
}

interface Found extends Place {
  /** From here on no link may be followed any more; null = it is reached by its path. */
  readonly root: string | null;
}

const inFound = <T>({ root }: Found, folder: string, work: (at: At) => T | Promise<T>): Promise<T> =>
  inFolder(root ?? folder, folder, work);

/** Their files are the kernel's answers about this very process, among them its environment. */
const KERNEL = ["/proc", "/sys", "/dev"];

function find(root: string, of: Of<"locate">): Found {
  const found = of.links === "all" ? findAnywhere(of) : findBelow(root, of);
  if (of.at !== undefined && of.at !== found.path) throw new Error("a link was put in its place");
  return found;
}

export function locate(root: string, of: Of<"locate">): Place {
  const { path, names } = find(root, of);
  return { path, names };
}

function findAnywhere({ path: asked, within = ["/"], shared = [] }: Of<"locate">): Found {
  const path = realpathSync(asked);
  if (KERNEL.some((folder) => isBelow(path, folder))) throw new Error("it leads to what is no file on a disk");
  const written = shared.find((folder) => isBelow(path, orNull(() => realpathSync(folder)) ?? folder));
  if (written !== undefined) throw new Error(`a link leads to ${written}, where pods write`);
  const folders = within.flatMap((name) => orNull(() => [{ name, real: realpathSync(name) }]) ?? []);
  return { path, names: namesBy(folders, path), root: null };
}

function findBelow(root: string, { path: asked, within = [root] }: Of<"locate">): Found {
  const path = realpathSync(asked);
  const top = realpathSync(root);
  if (!isBelow(path, top)) throw new Error(`it leads out of ${root}`);
  // A pod may link from its own folder to another's.
  const folders = within.flatMap((name) => {
    if (isBelow(root, name)) return [{ name: root, real: top }];
    return isBelow(name, root) ? [{ name, real: resolve(top, relative(root, name)) }] : [];
  });
  const names = namesBy(folders, path);
  if (process.geteuid?.() === 0 && path !== resolve(top, relative(root, asked)))
    throw new Error(`a link leads to ${path}, and a server that is root follows none on ${root}`);
  return { path, names, root: top };
}

function namesBy(folders: readonly { readonly name: string; readonly real: string }[], path: string): string[] {
  const names = folders.flatMap(({ name, real }) => (isBelow(path, real) ? [join(name, relative(real, path))] : []));
  if (names.length === 0) throw new Error("a link leads out of the folders that it may come from");
  return names;
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);

async function filesBelow(top: At, limits: TreeLimits): Promise<TreeFile[]> {
  const found: TreeFile[] = [];
  let bytes = 0;
  const walk = async (at: At, folder: string, depth: number): Promise<void> => {
    for (const entry of sortedEntries(at())) {
      await pause();
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < limits.depth && !limits.without.includes(entry.name))
        await inFolder(at(), at(entry.name), (below) => walk(below, path, depth + 1));
      if (!entry.isFile()) continue;
      const file = treeFile(path, at(entry.name), limits.fileBytes);
      bytes += file.bytes.length;
      if (found.push(file) > limits.files || bytes > limits.bytes)
        throw new Error(`it has more than ${limits.files} files or ${limits.bytes / 1024 / 1024} MiB`);
    }
  };
  await walk(top, "", 1);
  return found;
}

function treeFile(path: string, file: string, maxBytes: number): TreeFile {
  try {
    const { bytes, mode } = readWhole(file, maxBytes);
    return { path, bytes, executable: (mode & 0o100) !== 0 };
  } catch (error) {
    throw path === "" ? error : new Error(`${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}

/** For people: the system's own text would name a descriptor of this process. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EACCES" || code === "EPERM") return "not readable for the server";
  if (code === "ENOENT") return "it has just been removed";
  return code === "ELOOP" ? "a link was put in its place" : message;
}

/** Limited by what is read, not by the size: a file may grow meanwhile. */
export function readWhole(path: string, maxBytes: number): { readonly bytes: Buffer; readonly mode: number; readonly uid: number } {
  return withFile(path, (fd, { mode, uid }) => {
    const chunks: Buffer[] = [];
    let total = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(64 * 1024, maxBytes + 1 - total));
      const size = readSync(fd, chunk, 0, chunk.length, null);
      if (size === 0) return { bytes: Buffer.concat(chunks), mode, uid };
      total += size;
      if (total > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
      chunks.push(chunk.subarray(0, size));
    }
  });
}

function withFile<T>(path: string, work: (fd: number, stats: Stats) => T): T {
  const fd = openSync(path, READ_FLAGS);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("not a file");
    return work(fd, stats);
  } finally {
    closeSync(fd);
  }
}
