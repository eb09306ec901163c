import { closeSync, fstatSync, futimesSync, lstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { sortedEntries } from "../../volume/child/entries.ts";
import { type At, inFolder, orNull, READ_FLAGS } from "../../volume/child/in-folder.ts";
import { ImportFault } from "./fault.ts";

/** Small enough that a slow volume is seen to move. */
const CHUNK = 256 * 1024;
const MOST_FILES = 10_000;
const MOST_LEVELS = 8;

/** What may still be taken from one place, and what was. */
export interface Budget {
  readonly maxBytes: number;
  /** What may be copied from here on by the import as a whole. */
  readonly left: number;
  bytes: number;
  files: number;
  /** So many bytes more were copied. */
  readonly onBytes: (bytes: number) => void;
}

/** Copies a file of the volume. Never through a link, never from a pipe or a device, and no more than the budget allows. */
export function copyFile(root: string, from: string, to: string, budget: Budget): Promise<number> {
  return inFolder(root, dirname(from), (at) => copyOpen(at(basename(from)), from, to, budget));
}

/** Null = it is not there. */
export async function copyIfThere(root: string, from: string, to: string, budget: Budget): Promise<number | null> {
  return copyFile(root, from, to, budget).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/** Copies a file, or a folder with everything in it but links and special files. */
export async function copyTree(root: string, from: string, to: string, budget: Budget): Promise<void> {
  await inFolder(root, dirname(from), async (at) => {
    const stats = orNull(() => lstatSync(at(basename(from))), ["ENOENT"]);
    if (stats?.isFile()) copyOpen(at(basename(from)), from, to, budget);
    if (stats?.isDirectory()) await inFolder(at(), at(basename(from)), (inside) => copyFolder(inside, from, to, budget, MOST_LEVELS));
  });
}

async function copyFolder(at: At, from: string, to: string, budget: Budget, levels: number): Promise<void> {
  mkdirSync(to, { recursive: true });
  for (const entry of sortedEntries(at(), MOST_FILES)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isFile()) copyOpen(at(entry.name), source, target, budget);
    else if (entry.isDirectory() && levels > 1)
      await inFolder(at(), at(entry.name), (inside) => copyFolder(inside, source, target, budget, levels - 1));
  }
}

/** Returns when the file was last changed. Limited by what is read: a file may grow meanwhile. */
function copyOpen(from: string, name: string, to: string, budget: Budget): number {
  const fd = openSync(from, READ_FLAGS);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new ImportFault("unfit", `${name} is not a file`);
    if (++budget.files > MOST_FILES) throw new ImportFault("unfit", `${name}: there are more than ${MOST_FILES} files`);
    checkBudget(budget, budget.bytes + stats.size, name);
    mkdirSync(dirname(to), { recursive: true });
    const copy = openSync(to, "wx", 0o600);
    try {
      copyBytes(fd, copy, name, budget);
      futimesSync(copy, stats.mtimeMs / 1000, stats.mtimeMs / 1000);
    } finally {
      closeSync(copy);
    }
    return stats.mtimeMs;
  } finally {
    closeSync(fd);
  }
}

function checkBudget({ maxBytes, left }: Budget, bytes: number, name: string): void {
  if (bytes > maxBytes) throw new ImportFault("unfit", `${name}: there are more than ${maxBytes} bytes to copy`);
  if (bytes > left)
    throw new ImportFault("blocked", `${name}: too many bytes were copied from other places before; remove what is not needed there`);
}

function copyBytes(from: number, to: number, name: string, budget: Budget): void {
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (;;) {
    const count = readSync(from, chunk, 0, CHUNK, null);
    if (count === 0) return;
    budget.bytes += count;
    checkBudget(budget, budget.bytes, name);
    for (let done = 0; done < count; ) done += writeSync(to, chunk, done, count - done);
    budget.onBytes(count);
  }
}
