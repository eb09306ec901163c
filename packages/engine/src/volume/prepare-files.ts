import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync, type Stats, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import type { At } from "./in-folder.ts";
import { inFolderSync } from "./in-folder-sync.ts";
import type { FileOwner } from "./protocol.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Makes folders and files ready for a pod that writes as `owner`. Content that is there stays. */
export function prepareFiles(root: string, paths: readonly string[], folders: readonly string[], owner: FileOwner | null): void {
  for (const folder of folders) prepareFolder(root, folder, owner, () => {});
  for (const path of paths) prepareFolder(root, dirname(path), owner, (at) => prepareFile(at(basename(path)), owner));
}

export function removeFiles(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
      inFolderSync(root, dirname(path), (at) => unlinkSync(at(basename(path))));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

// The pod makes its claim file here, so the folder must be writable for it too. A root that is not there is a volume that is not mounted:
// nothing is made in its place.
function prepareFolder(root: string, folder: string, owner: FileOwner | null, then: (at: At) => void): void {
  let isNew = false;
  inFolderSync(
    root,
    folder,
    (at, fd) => {
      if (!isNew && folder !== root) openToGroup(fd, owner);
      then(at);
    },
    (fd) => {
      isNew = true;
      fchmodSync(fd, 0o775);
      if (isHandedTo(owner)) setOwnership(fd, owner, () => fchownSync(fd, owner.uid, owner.gid));
    },
  );
}

// A folder that others use keeps its user; the pod comes in by the group.
function openToGroup(fd: number, owner: FileOwner | null): void {
  const stats = fstatSync(fd);
  if (!isHandedTo(owner) || canWrite(stats, owner)) return;
  setOwnership(fd, owner, () => {
    fchownSync(fd, stats.uid, owner.gid);
    fchmodSync(fd, (stats.mode & 0o7777) | 0o070);
  });
}

const isHandedTo = (owner: FileOwner | null): owner is FileOwner => owner !== null && process.geteuid?.() === 0;

function prepareFile(path: string, owner: FileOwner | null): void {
  const { fd, made } = openOrMake(path);
  try {
    if (!fstatSync(fd).isFile()) throw Object.assign(new Error(`not a regular file: ${path}`), { path });
    if (made) fchmodSync(fd, 0o664);
    if (!isHandedTo(owner) || canWrite(fstatSync(fd), owner)) return;
    setOwnership(fd, owner, () => fchownSync(fd, owner.uid, owner.gid));
  } finally {
    closeSync(fd);
  }
}

// Never through a link: pods write on this volume and could point one at a file of the server.
function openOrMake(path: string): { fd: number; made: boolean } {
  try {
    return { fd: openSync(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o664), made: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return { fd: openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), made: false };
  }
}

// Some mounts know no owners and let everybody write: what counts is whether the pod can.
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
