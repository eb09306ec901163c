import { closeSync, openSync, writeSync } from "node:fs";
import { type Elf, ElfError } from "./elf.ts";

// Moves a program and its loader to another folder by changing paths in place: nothing in the file changes its size or its position, so
// what is appended to it (a single-file executable's own content) stays where it is looked for.

/** The loader of a folder of tools. */
export const LOADER = "ld.so";
export const LIBRARIES = "lib";

/** Has a copied program start with the folder's own loader. */
export function setInterpreter(file: string, { interpreter }: Pick<Elf, "interpreter">, mount: string): void {
  if (interpreter === null) return;
  const path = `${mount}/${LOADER}`;
  if (Buffer.byteLength(path) + 1 > interpreter.size)
    throw new ElfError(`has room for a loader's path of ${interpreter.size - 1} bytes, and ${path} is longer`);
  const bytes = Buffer.alloc(interpreter.size);
  bytes.write(path);
  const fd = openSync(file, "r+");
  try {
    writeSync(fd, bytes, 0, bytes.length, interpreter.offset);
  } finally {
    closeSync(fd);
  }
}

/** A folder of libraries that is built into a loader, with a slash at its end. */
const FOLDER = /^\/(usr\/)?(local\/)?lib(32|64|x32)?\/([a-z0-9_-]+\/)?$/;
/** Files that a loader reads: the machine's list of libraries, and those that every program is to have. */
const FILES = ["/etc/ld.so.cache", "/etc/ld.so.preload"];
/** A place that has no libraries, and that nobody but root can put one into. */
const NOWHERE = "/dev/";

/**
 * The loader with the folder's libraries in place of the image's. Without it a library of the image would be taken, of another libc. A path
 * keeps its length, because the loader has the lengths in a table of their own: slashes fill it up.
 */
export function relocateLoader(loader: Buffer, mount: string): Buffer {
  const moved = Buffer.from(loader);
  const own = `${mount}/${LIBRARIES}/`;
  let folders = 0;
  for (const { at, text } of texts(loader)) {
    if (FILES.includes(text)) moved.write(`${NOWHERE}${text.slice("/etc/".length)}`, at);
    if (!FOLDER.test(text)) continue;
    const fits = own.length <= text.length;
    if (fits) folders++;
    moved.write((fits ? own : NOWHERE).padEnd(text.length, "/"), at);
  }
  if (folders === 0)
    throw new ElfError(`has no built-in folder of libraries with room for ${own}; use a Debian or Ubuntu image, or a shorter path`);
  return moved;
}

const LONGEST = 64;

/** Texts between two NULs that begin with a slash. */
function* texts(bytes: Buffer): Generator<{ readonly at: number; readonly text: string }> {
  for (let at = bytes.indexOf("\0/"); at !== -1; at = bytes.indexOf("\0/", at + 1)) {
    const end = bytes.indexOf(0, at + 1);
    if (end !== -1 && end - at <= LONGEST) yield { at: at + 1, text: bytes.toString("latin1", at + 1, end) };
  }
}
