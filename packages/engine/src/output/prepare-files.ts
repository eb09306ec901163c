import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path/posix";
import type { FileOwner } from "./protocol.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Makes folders and files ready for a pod that writes as `owner`. Content that is there stays. */
export function prepareFiles(root: string, paths: readonly string[], folders: readonly string[], owner: FileOwner | null): void {
  // A root that is not there is a volume that is not mounted: nothing must be made in its place.
  statSync(root);
  for (const folder of folders) prepareFolder(root, folder, owner);
  for (const path of paths) {
    prepareFolder(root, dirname(path), owner);
    prepareFile(path, owner);
  }
}

export function removeFiles(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      unlinkSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

// The pod makes its claim file here, so the folder must be writable for it too.
function prepareFolder(root: string, folder: string, owner: FileOwner | null): void {
  const made = makeFolders(root, folder);
  for (const each of made) {
    chmodSync(each, 0o775);
    if (owner !== null && process.geteuid?.() === 0) handOver(each, owner, () => chownSync(each, owner.uid, owner.gid));
  }
  if (made.length > 0) return;
  // A folder that others use keeps its user; the pod comes in by the group.
  if (owner === null || process.geteuid?.() !== 0 || folder === root) return;
  const stats = statSync(folder);
  if (canWrite(stats, owner)) return;
  handOver(folder, owner, () => {
    chownSync(folder, stats.uid, owner.gid);
    chmodSync(folder, (stats.mode & 0o7777) | 0o070);
  });
}

// By hand: Node's recursive mkdir never returns on a file system that answers ENOENT below a folder that exists (/proc does).
function makeFolders(root: string, folder: string): string[] {
  const made: string[] = [];
  const above: string[] = [];
  for (let each = folder; each.length > root.length; each = dirname(each)) above.unshift(each);
  for (const each of above) {
    try {
      mkdirSync(each, 0o775);
      made.push(each);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  return made;
}

function prepareFile(path: string, owner: FileOwner | null): void {
  const { fd, made } = openOrMake(path);
  try {
    if (!fstatSync(fd).isFile()) throw Object.assign(new Error(`not a regular file: ${path}`), { path });
    if (made) fchmodSync(fd, 0o664);
    if (owner === null || process.geteuid?.() !== 0 || canWrite(fstatSync(fd), owner)) return;
    handOver(path, owner, () => fchownSync(fd, owner.uid, owner.gid));
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
function handOver(path: string, owner: FileOwner, change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!canWrite(statSync(path), owner)) throw error;
  }
}

function canWrite(stats: Stats, owner: FileOwner): boolean {
  if (owner.uid === 0) return true;
  if (stats.uid === owner.uid) return (stats.mode & 0o200) !== 0;
  return (stats.mode & (stats.gid === owner.gid ? 0o020 : 0o002)) !== 0;
}
