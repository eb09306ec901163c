import { closeSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path/posix";
import { type At, atOf, isNoFolder, LinkError, madeByAnother, namesBelow, ROOT_FLAGS, STEP_FLAGS, withPath } from "./in-folder.ts";

/** `inFolder` with blocking calls, for the reader process; the work gets the descriptor too. */
export function inFolderSync<T>(root: string, folder: string, work: (at: At, fd: number) => T, made?: (fd: number) => void): T {
  let path = root;
  let held = openSync(root, ROOT_FLAGS);
  try {
    for (const name of namesBelow(root, folder)) {
      const above = held;
      held = enter(atOf(above, path)(name), made);
      path = join(path, name);
      closeSync(above);
    }
    return work(atOf(held, path), held);
  } catch (error) {
    throw withPath(error, held, path);
  } finally {
    closeSync(held);
  }
}

function enter(path: string, made?: (fd: number) => void): number {
  try {
    return openSync(path, STEP_FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && made !== undefined) return makeAndEnter(path, made);
    throw isNoFolder(code) && lstatSync(path).isSymbolicLink() ? new LinkError(path) : error;
  }
}

function makeAndEnter(path: string, made: (fd: number) => void): number {
  const isNew = make(path);
  const fd = enter(path);
  try {
    if (isNew) made(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function make(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    return madeByAnother(error as NodeJS.ErrnoException);
  }
}
