// The `saved` folder: one archive per generation under a name never used twice, and `current`, which names the one in force.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { flush, NOT_PLAIN, openPlain, orNull, SAFELY, writeAll } from "../files.ts";
import { namesIn } from "./list-state.ts";

export interface Pointer {
  readonly current: string;
  readonly previous: string | null;
}

export const POINTER = "current";
const PART = ".part";
const GENERATION = /^\d{8}T\d{9}Z-[0-9a-f]+-[0-9a-f]+\.tar$/;
/** Restored only if there is no other: its name sorts before that of every save, and `current` never has to name it. */
export const FIRST_GENERATION = "00000000T000000000Z-0-0.tar";
/** A file this old that `current` does not name cannot still be written to. */
const ABANDONED_MS = 3_600_000;
/** A run leaves two. If there are more, somebody has put them there, and trying each would delay the CLI's start. */
const MAX_CANDIDATES = 20;
export const POINTER_BYTES = 4096;
export const POINTER_FLAGS: number = constants.O_RDWR | constants.O_CREAT | SAFELY;

export const isGeneration = (name: string): boolean => GENERATION.test(name);

/** The names of all generations that may be restored, best first. */
export interface Candidates {
  readonly pointer: Pointer | null;
  readonly names: readonly string[];
}

export const candidates = (saved: string): Candidates => candidatesOf(readPointer(saved), namesIn(saved));

export function candidatesOf(pointer: Pointer | null, found: readonly string[]): Candidates {
  const pointed = pointer ? [pointer.current, ...(pointer.previous ? [pointer.previous] : [])] : [];
  const others = found.filter((name) => GENERATION.test(name)).sort();
  return { pointer, names: [...new Set([...pointed, ...others.reverse()])].slice(0, MAX_CANDIDATES) };
}

/** An archive, opened to be read; null when it is not there, or no plain file. */
export const openGeneration = (saved: string, name: string): number | null => openPlain(join(saved, name));

/** Opened as if to be created: a network client then asks its server instead of remembering that there was no such file. */
export function readPointer(saved: string): Pointer | null {
  const file = join(saved, POINTER);
  const create = (): number => {
    mkdirSync(saved, { recursive: true, mode: 0o770 });
    return openSync(file, POINTER_FLAGS, 0o660);
  };
  // A volume that cannot be written to may still be read.
  const fd = orNull(create, ["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "ENOENT", ...NOT_PLAIN]) ?? openPlain(file);
  if (fd === null) return null;
  try {
    const bytes = Buffer.alloc(POINTER_BYTES);
    return fstatSync(fd).isFile() ? parsePointer(bytes.toString("utf8", 0, readSync(fd, bytes, 0, POINTER_BYTES, 0))) : null;
  } finally {
    closeSync(fd);
  }
}

/** So that this state is not collected as an old one; what cannot be written to cannot be collected either. */
export const markUsed = (saved: string): void => void orNull(() => lutimesSync(join(saved, POINTER), new Date(), new Date()));

/** Runs `write` on a file that gets its name only once all of it is on the volume. */
export function addGeneration<T>(saved: string, tag: string, at: string, write: (fd: number) => T): { name: string; written: T } {
  // A recursive call would not name the reason why there is no folder.
  if (!existsSync(saved)) mkdirSync(saved, 0o770);
  const name = `${at.replace(/[-:.]/g, "")}-${tag}-${randomBytes(4).toString("hex")}.tar`;
  return { name, written: writeWhole(saved, name, `${name}${PART}`, write) };
}

/** The one step that puts a generation in force. */
export function pointAt(saved: string, tag: string, pointer: Pointer): void {
  const part = `${POINTER}-${tag}-${randomBytes(4).toString("hex")}${PART}`;
  writeWhole(saved, POINTER, part, (fd) => writeAll(fd, Buffer.from(`${JSON.stringify({ format: 1, ...pointer })}\n`)));
}

/** Removes what has just been replaced, this run's own remains, and what was abandoned long ago: nothing another save may be about to name. */
export function tidy(saved: string, tag: string, pointer: Pointer, replaced: Pointer | null): void {
  const now = lstatSync(join(saved, pointer.current)).mtimeMs;
  for (const name of namesIn(saved)) {
    const isPart = name.endsWith(PART);
    if (name === pointer.current || name === pointer.previous || !(isPart || GENERATION.test(name))) continue;
    const file = join(saved, name);
    if (name === replaced?.current || name === replaced?.previous || name.includes(`-${tag}-`) || isOlder(file, now - ABANDONED_MS))
      rmSync(file, { force: true });
  }
}

function writeWhole<T>(saved: string, name: string, part: string, write: (fd: number) => T): T {
  const file = join(saved, part);
  const fd = openSync(file, "wx", 0o660);
  let open = true;
  try {
    const written = write(fd);
    flush(fdatasyncSync, fd);
    open = false;
    // A network file system may report an error only here.
    closeSync(fd);
    renameSync(file, join(saved, name));
    flushFolder(saved);
    return written;
  } catch (error) {
    if (open) closeSync(fd);
    rmSync(file, { force: true });
    throw error;
  }
}

function flushFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    // Not every file system can flush a folder.
    flush(fsyncSync, fd, ["EISDIR", "EBADF"]);
  } finally {
    closeSync(fd);
  }
}

/** A pointer that cannot be read names nothing; the generations still have their names. */
export function parsePointer(text: string): Pointer | null {
  const { current, previous } = orNull(() => JSON.parse(text) as Partial<Pointer> | null) ?? {};
  const named = (name: unknown): name is string => typeof name === "string" && GENERATION.test(name);
  return named(current) ? { current, previous: named(previous) ? previous : null } : null;
}

const isOlder = (file: string, than: number): boolean => (orNull(() => lstatSync(file).mtimeMs) ?? than) < than;
