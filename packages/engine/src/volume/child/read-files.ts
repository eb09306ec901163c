import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path/posix";
import type { FolderEntry, Of, TreeFile, TreeLimits } from "../protocol.ts";
import { sortedEntries } from "./entries.ts";
import { type At, inFolder } from "./in-folder.ts";
import { pause } from "./tail-loop.ts";

/** Opening a pipe must not wait for its writer. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export async function readFile(root: string, { maxBytes, ...of }: Of<"readFile">): Promise<Buffer> {
  const found = locate(root, of);
  return inFound(found, dirname(found.path), (at) => readWhole(at(basename(found.path)), maxBytes).bytes);
}

export async function listFolder(root: string, of: Of<"listFolder">): Promise<FolderEntry[]> {
  const found = locate(root, of);
  return inFound(found, found.path, (at) =>
    sortedEntries(at()).map((entry) => ({
      name: entry.name,
      kind: entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "other",
      target: entry.isSymbolicLink() ? readlinkSync(at(entry.name)) : null,
    })),
  );
}

export async function readTree(root: string, { limits, ...of }: Of<"readTree">): Promise<TreeFile[]> {
  const found = locate(root, of);
  try {
    return await inFound(found, found.path, (at) => filesBelow(at, limits));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    return inFound(found, dirname(found.path), (at) => [treeFile("", at(basename(found.path)), limits.fileBytes)]);
  }
}

/** Where a path really is. */
interface Found {
  readonly path: string;
  /** From here on no link may be followed any more; null = it is reached by its path. */
  readonly root: string | null;
}

const inFound = <T>({ root }: Found, folder: string, work: (at: At) => T | Promise<T>): Promise<T> =>
  inFolder(root ?? folder, folder, work);

function locate(root: string, { path: asked, links, within = [root] }: Of<"listFolder">): Found {
  const path = realpathSync(asked);
  if (links === "all") return { path, root: null };
  const top = realpathSync(root);
  if (!isBelow(path, top)) throw new Error(`it leads out of ${root}`);
  // A pod may link from its own folder to another's.
  const folders = within.map((folder) => (isBelow(folder, root) ? resolve(top, relative(root, folder)) : top));
  if (!folders.some((folder) => isBelow(path, folder))) throw new Error("a link leads out of the folders that it may come from");
  if (process.geteuid?.() === 0 && path !== resolve(top, relative(root, asked)))
    throw new Error(`a link leads to ${path}, and a server that is root follows none on ${root}`);
  return { path, root: top };
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
  const fd = openSync(path, READ_FLAGS);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("not a file");
    const chunks: Buffer[] = [];
    let total = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(64 * 1024, maxBytes + 1 - total));
      const size = readSync(fd, chunk, 0, chunk.length, null);
      if (size === 0) return { bytes: Buffer.concat(chunks), mode: stats.mode, uid: stats.uid };
      total += size;
      if (total > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
      chunks.push(chunk.subarray(0, size));
    }
  } finally {
    closeSync(fd);
  }
}
