// Unpacks an archive into the home, checking every byte against the manifest; what does not fit is taken back.
import { createHash } from "node:crypto";
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readSync, rmdirSync, rmSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { orNull, writeAll } from "../files.ts";
import { lookAt } from "./list-state.ts";
import { BLOCK, padding, readPaxPath, readTarHeader, type TarMember } from "./tar-header.ts";
import { type ArchiveManifest, CONTENT_FOLDER, MANIFEST_NAME, sumOf } from "./write-archive.ts";

/** The archive is there and can be read, but it is not what was saved. */
export class DamagedArchive extends Error {}

/** Small enough that a slow volume is seen to move. */
const CHUNK = 128 * 1024;
const MAX_MANIFEST = 64 * 1024 * 1024;

export interface Unpacking {
  readonly home: string;
  /** Keeps an archive from writing anywhere but where the state is. */
  readonly isWanted: (path: string) => boolean;
  /** So many more bytes were read. */
  readonly onRead: (bytes: number) => void;
}

export function unpackArchive(fd: number, { home, isWanted, onRead }: Unpacking): ArchiveManifest {
  const made: string[] = [];
  try {
    const sums = new Map<string, string>();
    const manifest = unpackMembers(new Blocks(fd, onRead), (member, content) => {
      const path = member.path.slice(CONTENT_FOLDER.length + 1);
      if (!member.path.startsWith(`${CONTENT_FOLDER}/`) || !isWanted(path)) throw new DamagedArchive(`it holds "${member.path}"`);
      made.push(path);
      sums.set(path, member.kind === "file" ? unpackFile(home, path, content) : unpackFolder(home, path));
    });
    checkContents(manifest, sums);
    for (const { path, mode, mtimeMs } of [...manifest.entries].reverse()) {
      chmodSync(join(home, path), mode);
      utimesSync(join(home, path), mtimeMs / 1000, mtimeMs / 1000);
    }
    return manifest;
  } catch (error) {
    for (const path of made.reverse()) takeBack(join(home, path));
    throw error;
  }
}

/** A folder that is not empty was there before. */
const takeBack = (path: string): void => void orNull(() => (lstatSync(path).isDirectory() ? rmdirSync(path) : rmSync(path)));

function unpackMembers(blocks: Blocks, onMember: (member: TarMember, content: Iterable<Buffer>) => void): ArchiveManifest {
  for (let longPath: string | null = null; ; ) {
    const header = readTarHeader(blocks.take(BLOCK));
    if (header === null || header.kind === "end") throw new DamagedArchive("it is torn");
    if (header.kind === "long-path") {
      longPath = readPaxPath(blocks.content(header.size));
      continue;
    }
    const member: TarMember = { ...header, path: longPath ?? header.path };
    longPath = null;
    if (member.path === MANIFEST_NAME) return parseManifest(blocks.content(member.size));
    onMember(member, blocks.pieces(member.size));
  }
}

function checkContents(manifest: ArchiveManifest, sums: ReadonlyMap<string, string>): void {
  const whole = manifest.entries.length === sums.size && manifest.entries.every(({ path, sha256 }) => sums.get(path) === sha256);
  if (!whole) throw new DamagedArchive("its contents do not fit its checksums");
}

function parseManifest(text: Buffer): ArchiveManifest {
  const [line = "", sum] = text.toString().split("\n");
  if (sumOf(line) !== sum) throw new DamagedArchive("its list of contents cannot be read");
  const manifest = JSON.parse(line) as ArchiveManifest;
  if (manifest.format !== 1) throw new DamagedArchive("it has a format this runner does not know");
  return manifest;
}

function unpackFolder(home: string, path: string): string {
  makeFolders(home, path);
  return "";
}

function unpackFile(home: string, path: string, content: Iterable<Buffer>): string {
  makeFolders(home, dirname(path));
  const target = join(home, path);
  rmSync(target, { force: true });
  const fd = openSync(target, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    for (const piece of content) {
      hash.update(piece);
      writeAll(fd, piece);
    }
    return hash.digest("hex");
  } finally {
    closeSync(fd);
  }
}

/** One by one, so that a link among them is seen. */
function makeFolders(home: string, path: string): void {
  mkdirSync(home, { recursive: true });
  let folder = home;
  for (const name of path.split("/")) {
    folder = join(folder, name);
    if (!lookAt(folder)?.isDirectory()) mkdirSync(folder, 0o700);
  }
}

/** The archive's bytes in order; the end of the file before the end of the archive is damage. */
class Blocks {
  readonly #fd: number;
  readonly #onRead: (bytes: number) => void;
  readonly #buffer = Buffer.allocUnsafe(CHUNK);
  #at = 0;

  constructor(fd: number, onRead: (bytes: number) => void) {
    this.#fd = fd;
    this.#onRead = onRead;
  }

  take(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) done += this.#read(bytes, done, length - done);
    return bytes;
  }

  content(size: number): Buffer {
    if (size > MAX_MANIFEST) throw new DamagedArchive("its list of contents is too long");
    const bytes = this.take(size);
    this.#at += padding(size);
    return bytes;
  }

  *pieces(size: number): Generator<Buffer> {
    for (let left = size; left > 0; ) {
      const count = this.#read(this.#buffer, 0, Math.min(CHUNK, left));
      yield this.#buffer.subarray(0, count);
      left -= count;
    }
    this.#at += padding(size);
  }

  #read(into: Buffer, offset: number, length: number): number {
    const count = readSync(this.#fd, into, offset, Math.min(CHUNK, length), this.#at);
    if (count === 0) throw new DamagedArchive("it is torn");
    this.#at += count;
    this.#onRead(count);
    return count;
  }
}
