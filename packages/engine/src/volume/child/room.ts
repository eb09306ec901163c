import { statfsSync } from "node:fs";

/** Less room than one record of a run may need. */
const LEAST_BYTES = 64 * 1024;

/** Whether pods can write nothing more there. A file system that does not count its blocks or files is never out of them; one that cannot be asked says nothing. */
export function isFull(root: string): boolean {
  try {
    const { blocks, bavail, bsize, files, ffree } = statfsSync(root);
    return (blocks > 0 && bavail * bsize < LEAST_BYTES) || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
