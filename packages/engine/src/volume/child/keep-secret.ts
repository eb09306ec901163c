import { closeSync, constants, fchmodSync, openSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import type { Of } from "../protocol.ts";
import { inFolder, orNull } from "./in-folder.ts";
import { readWhole } from "./read-files.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const OTHERS = 0o077;
const TRIES = 20;
const PAUSE_MS = 50;

/** Reads a secret that only this server's user may read, or makes the file with the bytes given: of several servers, one does. */
export async function keepSecret(root: string, { path, bytes }: Of<"keepSecret">): Promise<Buffer> {
  const work = async (at: (name?: string) => string): Promise<Buffer> => {
    const file = at(basename(path));
    if (bytes !== null) orNull(() => make(file, bytes), ["EEXIST"]);
    return read(file, path);
  };
  return inFolder(root, dirname(path), work, bytes === null ? undefined : (fd) => fchmodSync(fd, 0o700));
}

function make(file: string, bytes: Buffer): void {
  const fd = openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

const SECRET_BYTES = 32;

/** Tries again for a while if the file is too short: another server may be writing it at this moment. */
async function read(file: string, path: string): Promise<Buffer> {
  for (let tried = 1; ; tried++) {
    const { bytes, mode, uid } = readWhole(file, SECRET_BYTES);
    if (uid !== process.geteuid?.() || (mode & OTHERS) !== 0)
      throw new Error(`${path} is not a secret of this server: it must belong to its user, with mode 0600`);
    if (bytes.length === SECRET_BYTES) return bytes;
    if (tried === TRIES) throw new Error(`${path} has ${bytes.length} bytes instead of ${SECRET_BYTES}: delete it`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
