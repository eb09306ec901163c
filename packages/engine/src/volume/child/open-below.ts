import { closeSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { join, relative } from "node:path/posix";
import { LinkError, READ_FLAGS } from "./in-folder.ts";

/**
 * Opens files below a root again and again, never through a link: pods write on this volume and could point one at a file of the server.
 * It takes two calls, not one for each folder on the way: after the open the kernel says where the descriptor really is, and that cannot be
 * changed any more.
 */
export function openBelow(root: string): (path: string) => number {
  let top: string | null = null;
  return (path) => {
    const fd = openSync(path, READ_FLAGS);
    // Only Linux says where a descriptor is.
    if (process.platform !== "linux") return fd;
    try {
      const place = placeOf(fd);
      const below = relative(root, path);
      if (top !== null && place === join(top, below)) return fd;
      // The root may be reached by links of the operator's own, and those may change.
      top = realpathSync(root);
      if (place === join(top, below)) return fd;
      throw place.endsWith(GONE) ? Object.assign(new Error(`${path} has just been removed`), { code: "ENOENT" }) : new LinkError(path);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  };
}

const GONE = " (deleted)";
const placeOf = (fd: number): string => readlinkSync(`/proc/self/fd/${fd}`);
