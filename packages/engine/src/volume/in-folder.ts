// Pods write on the shared volume, and may put a link where the server has a folder. So a folder is reached from its root step by step, no
// step through a link, and what is done in it is done through its descriptor: a link that is put there meanwhile leads nobody anywhere.
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open } from "node:fs/promises";
import { join, relative } from "node:path/posix";

export const ROOT_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;
export const STEP_FLAGS = ROOT_FLAGS | constants.O_NOFOLLOW;

/** The path of a name in a folder that is held open, or of the folder itself; good as long as it is held. */
export type At = (name?: string) => string;

/** A link stands where the server expects a folder of its own. */
export class LinkError extends Error {
  override readonly name = "LinkError";
  readonly code = "ELOOP";
  readonly path: string;

  constructor(path: string) {
    super(`${path} is a link, and links on the shared volume are not followed`);
    this.path = path;
  }
}

/** Works in a folder below the root. With `made`, folders that are missing are made, and handed to it to be set up. */
export async function inFolder<T>(
  root: string,
  folder: string,
  work: (at: At) => Promise<T>,
  made?: (folder: FileHandle) => Promise<void>,
): Promise<T> {
  let path = root;
  let held = await open(root, ROOT_FLAGS);
  try {
    for (const name of namesBelow(root, folder)) {
      const above = held;
      held = await enter(atOf(above.fd, path)(name), made);
      path = join(path, name);
      await above.close();
    }
    return await work(atOf(held.fd, path));
  } catch (error) {
    throw withPath(error, held.fd, path);
  } finally {
    await held.close();
  }
}

async function enter(path: string, made?: (folder: FileHandle) => Promise<void>): Promise<FileHandle> {
  try {
    return await open(path, STEP_FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && made !== undefined) return makeAndEnter(path, made);
    throw isNoFolder(code) && (await lstat(path)).isSymbolicLink() ? new LinkError(path) : error;
  }
}

async function makeAndEnter(path: string, made: (folder: FileHandle) => Promise<void>): Promise<FileHandle> {
  const isNew = await mkdir(path).then(() => true, madeByAnother);
  const folder = await enter(path);
  try {
    if (isNew) await made(folder);
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** The folder is there now, and set up by whoever made it. */
export function madeByAnother(error: NodeJS.ErrnoException): false {
  if (error.code !== "EEXIST") throw error;
  return false;
}

/** The steps from the root down to the folder. */
export function namesBelow(root: string, folder: string): string[] {
  const names = relative(root, folder).split("/").filter(Boolean);
  if (names[0] === "..") throw new Error(`${folder} is not below ${root}`);
  return names;
}

/** What is open stays what it is, whatever becomes of its path; elsewhere than on Linux the path has to do. */
export function atOf(fd: number, path: string): At {
  const folder = process.platform === "linux" ? `/proc/self/fd/${fd}` : path;
  return (name) => (name === undefined ? folder : `${folder}/${name}`);
}

/** With O_NOFOLLOW, systems say either of a link. */
export const isNoFolder = (code: string | undefined): boolean => code === "ENOTDIR" || code === "ELOOP";

/** The error as it would read had the folder been reached by its path. */
export function withPath(error: unknown, fd: number, path: string): unknown {
  if (!(error instanceof Error)) return error;
  const descriptor = new RegExp(`/proc/self/fd/${fd}(?!\\d)`, "g");
  for (const field of ["message", "path", "dest"] as const) {
    const text = (error as NodeJS.ErrnoException & { dest?: string })[field];
    if (typeof text === "string") Object.assign(error, { [field]: text.replace(descriptor, () => path) });
  }
  return error;
}
