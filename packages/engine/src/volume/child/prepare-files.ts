import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync, type Stats, writeSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import type { FileOwner, Prepared } from "../protocol.ts";
import { type At, inFolder, orNull, removeTree } from "./in-folder.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Makes folders and files ready for a pod that writes as `owner`. Their content stays. */
export async function prepareFiles(root: string, { paths, folders, owner, note }: Prepared): Promise<void> {
  for (const folder of folders) await prepareFolder(root, folder, owner, () => {});
  for (const path of paths) await prepareFolder(root, dirname(path), owner, (at) => prepareFile(at(basename(path)), owner));
  if (note === undefined) return;
  await removeFiles(root, [note.path]);
  await claimFile(root, note.path, note.text);
}

/** Whoever makes a file first has it: runners claim their run so, with a file that only one of them can make. */
export function claimFile(root: string, path: string, text: string): Promise<boolean> {
  return inFolder(root, dirname(path), (at) => {
    const fd = orNull(() => openSync(at(basename(path)), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644), ["EEXIST"]);
    if (fd === null) return false;
    try {
      writeSync(fd, text);
    } finally {
      closeSync(fd);
    }
    return true;
  });
}

/** Each with what is in it, if it is a folder: a pod may have put one where the server had a file. */
export async function removeFiles(root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await inFolder(root, dirname(path), (at) => removeTree(at(), basename(path))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
}

// The pod makes its lock file here, so the folder must be writable for it too. A root that is missing is a volume that is not mounted:
// nothing is created in its place.
async function prepareFolder(root: string, folder: string, owner: FileOwner | null, then: (at: At) => void): Promise<void> {
  let isNew = false;
  await inFolder(
    root,
    folder,
    (at, fd) => {
      if (!isNew && folder !== root) openToGroup(fd, owner);
      then(at);
    },
    (fd) => {
      isNew = true;
      fchmodSync(fd, 0o775);
      if (isForPod(owner)) setOwnership(fd, owner, () => fchownSync(fd, owner.uid, owner.gid));
    },
  );
}

// A folder that others use keeps its user; the pod gets in by the group.
function openToGroup(fd: number, owner: FileOwner | null): void {
  const stats = fstatSync(fd);
  if (!isForPod(owner) || canWrite(stats, owner)) return;
  setOwnership(fd, owner, () => {
    fchownSync(fd, stats.uid, owner.gid);
    fchmodSync(fd, (stats.mode & 0o7777) | 0o070);
  });
}

const isForPod = (owner: FileOwner | null): owner is FileOwner => owner !== null && process.geteuid?.() === 0;

function prepareFile(path: string, owner: FileOwner | null): void {
  const { fd, made } = openOrMake(path);
  try {
    if (!fstatSync(fd).isFile()) throw Object.assign(new Error(`not a regular file: ${path}`), { path });
    if (made) fchmodSync(fd, 0o664);
    if (!isForPod(owner) || canWrite(fstatSync(fd), owner)) return;
    setOwnership(fd, owner, () => fchownSync(fd, owner.uid, owner.gid));
  } finally {
    closeSync(fd);
  }
}

// Never through a link: pods write on this volume and could point one at a file of the server.
function openOrMake(path: string): { fd: number; made: boolean } {
  const made = orNull(() => openSync(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o664), ["EEXIST"]);
  return { fd: made ?? openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), made: made !== null };
}

// Some mounts have no owners and let everybody write: what counts is whether the pod can.
function setOwnership(fd: number, owner: FileOwner, change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!canWrite(fstatSync(fd), owner)) throw error;
  }
}

function canWrite(stats: Stats, owner: FileOwner): boolean {
  if (owner.uid === 0) return true;
  if (stats.uid === owner.uid) return (stats.mode & 0o200) !== 0;
  return (stats.mode & (stats.gid === owner.gid ? 0o020 : 0o002)) !== 0;
}
