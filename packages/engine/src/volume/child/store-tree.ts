// Trees of files that several servers may write at once and that pods can change: each is complete or not there, and used only as it was written.
import { randomUUID } from "node:crypto";
import { closeSync, fchmodSync, mkdirSync, openSync, renameSync, rmdirSync, statSync, utimesSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import type { StoreTree, TreeFile } from "../protocol.ts";
import { entriesOf, sortedEntries } from "./entries.ts";
import { type At, inFolder, orNull, removeTree } from "./in-folder.ts";
import { readWhole } from "./read-files.ts";
import { pause } from "./tail-loop.ts";

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
  const copies = sortedEntries(wanted.at()).flatMap(({ name }) => (name.startsWith(`${wanted.key}-`) ? [name] : []));
  for (const name of copies.sort().slice(-MOST_COPIES).reverse()) if (await isUsable(wanted, name)) return name;
  return null;
}

/** Pods of other agents can change it, and a server with another user may have made it. */
function isUsable({ at, files, usedUntil, unfinished }: Wanted, name: string): Promise<boolean> {
  const check = async (inside: At): Promise<boolean> => {
    if (!(await isSame(inside, files))) return false;
    markUsed(inside, usedUntil, unfinished);
    return true;
  };
  return inFolder(at(), at(name), check).catch(() => false);
}

/** Its modification time is the end of its use, and is never set back. */
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
    const moved = orNull(() => renameSync(at(part), at(key)), ["ENOTEMPTY", "EEXIST", "ENOTDIR"]) !== null;
    if (moved || (await isUsable(wanted, key))) return key;
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

/** Exactly these files, byte by byte, and nothing else. Modes are not compared: some mounts have none. */
async function isSame(top: At, files: readonly TreeFile[]): Promise<boolean> {
  const missing = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const walk = async (at: At, folder: string): Promise<boolean> => {
    for (const entry of entriesOf(at())) {
      await pause();
      const path = join(folder, entry.name);
      const bytes = missing.get(path);
      const isFolder = entry.isDirectory() && files.some((file) => file.path.startsWith(`${path}/`));
      if (isFolder ? !(await inFolder(at(), at(entry.name), (below) => walk(below, path))) : bytes === undefined) return false;
      if (bytes !== undefined && !readWhole(at(entry.name), bytes.length).bytes.equals(bytes)) return false;
      missing.delete(path);
    }
    return true;
  };
  return (await walk(top, "")) && missing.size === 0;
}
