// Pods write on the shared volume and may put a link where the server has a folder. So a folder is reached from its root step by step,
// never through a link, and all work in it goes through its descriptor: a link that is put there meanwhile has no effect.
import { closeSync, constants, lstatSync, mkdirSync, openSync, rmdirSync, unlinkSync } from "node:fs";
import { join, relative } from "node:path/posix";
import { entriesOf } from "./entries.ts";
import { pause } from "./tail-loop.ts";

const ROOT_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;
const STEP_FLAGS = ROOT_FLAGS | constants.O_NOFOLLOW;
/** For files: a link in the file's place is refused, and opening a pipe does not wait for its writer. */
export const READ_FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Each level of a tree that is removed keeps a descriptor open. */
const MOST_LEVELS = 64;

/** The path of a name in a folder that is kept open, or of the folder itself; valid as long as it is open. */
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

/** Works in a folder below the root. With `made`, missing folders are created, and `made` sets up each of them. */
export async function inFolder<T>(
  root: string,
  folder: string,
  work: (at: At, fd: number) => T | Promise<T>,
  made?: (fd: number) => void,
): Promise<T> {
  let path = root;
  let fd = openSync(root, ROOT_FLAGS);
  try {
    for (const name of namesBelow(root, folder)) {
      const above = fd;
      fd = enter(atOf(above, path)(name), made);
      path = join(path, name);
      closeSync(above);
    }
    return await work(atOf(fd, path), fd);
  } catch (error) {
    throw withPath(error, fd, path);
  } finally {
    closeSync(fd);
  }
}

/** Removes a file, a link or a folder with its content, never through a link. */
export async function removeTree(folder: string, name: string, levels = MOST_LEVELS): Promise<void> {
  const path = `${folder}/${name}`;
  await pause();
  if (!lstatSync(path).isDirectory()) return unlinkSync(path);
  if (levels === 0) throw new Error(`${path} is too deep to be removed`);
  await inFolder(folder, path, async (at) => {
    // What was listed is gone before more is read, so that a folder of millions takes no memory.
    for (let batch = 0, names = firstNames(at()); names.length > 0 && batch < MOST_BATCHES; batch++, names = firstNames(at()))
      for (const each of names) await removeTree(at(), each, levels - 1);
  });
  rmdirSync(path);
}

const BATCH = 1000;
/** The folder stays if somebody adds files faster than they are removed. */
const MOST_BATCHES = 10_000;

function firstNames(folder: string): string[] {
  const names: string[] = [];
  for (const { name } of entriesOf(folder)) if (names.push(name) === BATCH) break;
  return names;
}

function enter(path: string, made?: (fd: number) => void): number {
  try {
    return openSync(path, STEP_FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && made !== undefined) return makeAndEnter(path, made);
    // With O_NOFOLLOW, systems answer either code for a link.
    throw (code === "ENOTDIR" || code === "ELOOP") && lstatSync(path).isSymbolicLink() ? new LinkError(path) : error;
  }
}

function makeAndEnter(path: string, made: (fd: number) => void): number {
  // One that another process has made meanwhile is set up by that process.
  const isNew = orNull(() => mkdirSync(path), ["EEXIST"]) !== null;
  const fd = enter(path);
  try {
    if (isNew) made(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** null when the work fails with one of these codes; without codes, however it fails. */
export function orNull<T>(work: () => T, codes?: readonly string[]): T | null {
  try {
    return work();
  } catch (error) {
    if (codes && !codes.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return null;
  }
}

function namesBelow(root: string, folder: string): string[] {
  const names = relative(root, folder).split("/").filter(Boolean);
  if (names[0] === "..") throw new Error(`${folder} is not below ${root}`);
  return names;
}

/** An open folder stays the same whatever happens to its path; only Linux has a path for it. */
function atOf(fd: number, path: string): At {
  const folder = process.platform === "linux" ? `/proc/self/fd/${fd}` : path;
  return (name) => (name === undefined ? folder : `${folder}/${name}`);
}

/** The error as it would read if the folder had been reached by its path. */
function withPath(error: unknown, fd: number, path: string): unknown {
  if (!(error instanceof Error)) return error;
  const descriptor = new RegExp(`/proc/self/fd/${fd}(?!\\d)`, "g");
  for (const field of ["message", "path", "dest"] as const) {
    const text = (error as NodeJS.ErrnoException & { dest?: string })[field];
    if (typeof text === "string") Object.assign(error, { [field]: text.replace(descriptor, () => path) });
  }
  return error;
}
