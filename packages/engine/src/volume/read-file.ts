import { closeSync, constants, fchmodSync, fstatSync, openSync } from "node:fs";

// No link is followed: pods write on this volume and could point one at a file of the server. No FIFO may block the open.
const readFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** A fresh open makes an NFS client look at the server again. Blocking calls: 10 µs instead of 100. */
export function openToRead(path: string): number {
  return openSync(path, readFlags);
}

/** Sets the file to the mode it has: the attribute change makes a caching client fetch the true size. A hint, so failing is fine. */
export function fetchTrueSize(path: string): void {
  try {
    const fd = openToRead(path);
    try {
      fchmodSync(fd, fstatSync(fd).mode & 0o7777);
    } finally {
      closeSync(fd);
    }
  } catch {}
}

/** Not there yet, or replaced behind the client's back: look again by path later. */
export function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ESTALE";
}
