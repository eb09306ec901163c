import { randomUUID } from "node:crypto";
import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import { chunkBytes, type Of } from "../protocol.ts";
import { type At, inFolder, orNull, READ_FLAGS } from "./in-folder.ts";
import { pause } from "./tail-loop.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const NEWLINE = 0x0a;

/** Copies the last whole lines of a file that a pod writes, for the server's user alone. False = there is nothing to keep. */
export function keepEnd(root: string, { from, to, bytes, unfinished }: Of<"keepEnd">): Promise<boolean> {
  return inFolder(root, dirname(from), async (source) => {
    const fd = openSync(source(basename(from)), READ_FLAGS);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) throw new Error(`${from} is not a file`);
      const begin = await firstLine(fd, Math.max(0, stats.size - bytes), stats.size);
      if (begin === stats.size) return false;
      const part = `${unfinished}${randomUUID()}`;
      const place = (at: At) => write(at, { fd, begin, end: stats.size }, part, basename(to));
      await inFolder(root, dirname(to), place, (folder) => fchmodSync(folder, 0o700));
      return true;
    } finally {
      closeSync(fd);
    }
  });
}

/** Where the first line begins that is whole, at or after this place. */
async function firstLine(fd: number, from: number, size: number): Promise<number> {
  if (from === 0) return 0;
  const chunk = Buffer.alloc(chunkBytes);
  // The byte before shows whether a line begins just here.
  for (let at = from - 1; at < size; ) {
    await pause();
    const read = readSync(fd, chunk, 0, Math.min(chunk.length, size - at), at);
    if (read === 0) break;
    const newline = chunk.subarray(0, read).indexOf(NEWLINE);
    if (newline >= 0) return at + newline + 1;
    at += read;
  }
  return size;
}

interface Part {
  readonly fd: number;
  readonly begin: number;
  readonly end: number;
}

/** Complete under its name, or not there. What is added meanwhile is left out, so that it has an end. */
async function write(at: At, { fd, begin, end }: Part, part: string, name: string): Promise<void> {
  const file = openSync(at(part), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    const chunk = Buffer.alloc(chunkBytes);
    for (let place = begin; place < end; ) {
      await pause();
      const read = readSync(fd, chunk, 0, Math.min(chunk.length, end - place), place);
      // A pod has cut it meanwhile.
      if (read === 0) break;
      for (let done = 0; done < read; ) done += writeSync(file, chunk, done, read - done);
      place += read;
    }
    renameSync(at(part), at(name));
  } catch (error) {
    orNull(() => unlinkSync(at(part)));
    throw error;
  } finally {
    closeSync(file);
  }
}
