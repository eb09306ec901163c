// Trees of files that several servers may write at once and that pods can change: each is complete or not there, and used only as it was written.
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import type { StoreTree, TreeFile } from "../protocol.ts";
import { type At, inFolder, removeTree } from "./in-folder.ts";
import { pause } from "./tail-loop.ts";

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Of copies that were made beside a corrupted one, the newest few are compared. */
const MOST_COPIES = 4;

/** A tree that is to be in an open folder. */
interface Wanted extends StoreTree {
  readonly at: At;
}

/** A root that is missing is a volume that is not mounted: nothing is created in its place. */
export function storeTree(root: string, tree: StoreTree): Promise<string> {
  const store = async (at: At): Promise<string> => {
    const wanted = { ...tree, at };
    return (await find(wanted)) ?? (await build(wanted));
  };
  return inFolder(root, tree.folder, store, openToAll);
}

/** Under its key, or under a name that it got because the key was taken by something else. */
async function find(wanted: Wanted): Promise<string | null> {
  if (await isUsable(wanted, wanted.key)) return wanted.key;
  const copies = readdirSync(wanted.at()).filter((name) => name.startsWith(`${wanted.key}-`));
  for (const name of copies.sort().slice(-MOST_COPIES).reverse()) if (await isUsable(wanted, name)) return name;
  return null;
}

/** Pods of other agents can change it, and a server with another user may have made it. */
function isUsable({ at, files, usedUntil, unfinished }: Wanted, name: string): Promise<boolean> {
  const check = async (inside: At): Promise<boolean> => {
    if (!(await isSame(inside, folderOf(files)))) return false;
    markUsed(inside, usedUntil, unfinished);
    return true;
  };
  return inFolder(at(), at(name), check).catch(() => false);
}

/** Its time of change says until when it is needed, and is never set back. */
function markUsed(at: At, until: number, unfinished: string): void {
  if (statSync(at()).mtimeMs >= until) return;
  try {
    utimesSync(at(), new Date(), new Date(until));
  } catch {
    // Only its owner may set a folder's time; who may write in it can make it the present one.
    const passing = at(`${unfinished}${randomUUID()}`);
    mkdirSync(passing);
    rmdirSync(passing);
  }
}

async function build(wanted: Wanted): Promise<string> {
  const { at, key, files, usedUntil, unfinished } = wanted;
  const part = `${unfinished}${randomUUID()}`;
  try {
    for (const file of files) await write(at, join(part, file.path), file);
    await inFolder(at(), at(part), (inside) => markUsed(inside, usedUntil, unfinished));
    if (moved(at, part, key) || (await isUsable(wanted, key))) return key;
    const copy = `${key}-${Date.now()}-${randomUUID().slice(0, 8)}`;
    renameSync(at(part), at(copy));
    return copy;
  } finally {
    await removeTree(at(), part).catch(() => {});
  }
}

async function write(at: At, path: string, { bytes, executable }: TreeFile): Promise<void> {
  await pause();
  await inFolder(
    at(),
    at(dirname(path)),
    (inside) => {
      const fd = openSync(inside(basename(path)), "wx");
      try {
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
        // Any user of a pod may read it, nobody may change it.
        fchmodSync(fd, executable ? 0o555 : 0o444);
      } finally {
        closeSync(fd);
      }
    },
    openToAll,
  );
}

/** The pod's user may enter, whatever the server's umask is. */
const openToAll = (fd: number): void => fchmodSync(fd, 0o755);

/** False = something has that name. */
function moved(at: At, part: string, name: string): boolean {
  try {
    renameSync(at(part), at(name));
    return true;
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  }
}

interface Folder {
  readonly files: Map<string, Buffer>;
  readonly folders: Map<string, Folder>;
}

function folderOf(files: readonly TreeFile[]): Folder {
  const top: Folder = { files: new Map(), folders: new Map() };
  for (const { path, bytes } of files) {
    let folder = top;
    for (const name of path.split("/").slice(0, -1)) {
      const below = folder.folders.get(name) ?? { files: new Map(), folders: new Map() };
      folder.folders.set(name, below);
      folder = below;
    }
    folder.files.set(basename(path), bytes);
  }
  return top;
}

/** Exactly these files, byte by byte, and nothing else. Modes are not compared: some mounts have none. */
async function isSame(at: At, { files, folders }: Folder): Promise<boolean> {
  if (readdirSync(at()).length !== files.size + folders.size) return false;
  for (const [name, bytes] of files) {
    await pause();
    if (!isSameFile(at(name), bytes)) return false;
  }
  for (const [name, folder] of folders) if (!(await inFolder(at(), at(name), (below) => isSame(below, folder)))) return false;
  return true;
}

function isSameFile(path: string, bytes: Buffer): boolean {
  const fd = openSync(path, READ_FLAGS);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size !== bytes.length) return false;
    const found = Buffer.alloc(bytes.length);
    for (let done = 0, size = 1; done < found.length && size > 0; done += size) size = readSync(fd, found, done, found.length - done, done);
    return found.equals(bytes);
  } finally {
    closeSync(fd);
  }
}
