import { lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { inFolder } from "./in-folder.ts";

/** Each level holds a descriptor. */
const MOST_LEVELS = 64;

/** Removes a file, a link or a folder with all that is in it, never by way of a link. `folder` is held by the caller or trusted. */
export async function removeTree(folder: string, name: string, levels = MOST_LEVELS): Promise<void> {
  const path = `${folder}/${name}`;
  if (!(await lstat(path)).isDirectory()) return unlink(path);
  if (levels === 0) throw new Error(`${path} is too deep to be removed`);
  await inFolder(folder, path, async (at) => {
    for (const each of await readdir(at())) await removeTree(at(), each, levels - 1);
  });
  await rmdir(path);
}
