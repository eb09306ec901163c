// Reads an archive's bytes by position; the end of the file before the end of the archive is damage.
import { fstatSync, readSync } from "node:fs";
import { DamagedArchive } from "./manifest.ts";
import { BLOCK, padding, readPaxPath, readTarHeader, type TarMember } from "./tar-header.ts";

/** Small enough that a slow volume is seen to move. */
const CHUNK = 128 * 1024;
/** A path has at most 4096 bytes. */
const MAX_LONG_PATH = 8 * 1024;

/** An archive's bytes: those of a file, or what was read of it before. */
export interface ArchiveSource {
  readonly size: number;
  /** How many bytes there were; 0 behind the end. */
  readonly read: (into: Buffer, offset: number, length: number, position: number) => number;
}

export const inFile = (fd: number): ArchiveSource => ({
  size: fstatSync(fd).size,
  read: (into, offset, length, position) => readSync(fd, into, offset, length, position),
});

export const inMemory = (bytes: Buffer): ArchiveSource => ({
  size: bytes.length,
  read: (into, offset, length, position) => bytes.copy(into, offset, Math.min(position, bytes.length), position + length),
});

export class ArchiveBlocks {
  readonly #source: ArchiveSource;
  readonly #onRead: (bytes: number) => void;
  readonly #buffer = Buffer.allocUnsafe(CHUNK);
  #at: number;

  constructor(source: ArchiveSource, at: number, onRead: (bytes: number) => void) {
    this.#source = source;
    this.#at = at;
    this.#onRead = onRead;
  }

  get at(): number {
    return this.#at;
  }

  /** The next member's header; its content follows. */
  member(): TarMember {
    const header = this.#header();
    if (header.kind !== "long-path") return header;
    if (header.size > MAX_LONG_PATH) throw new DamagedArchive("a path in it is too long");
    const path = readPaxPath(this.content(header.size));
    const member = this.#header();
    if (path === null || member.kind === "long-path") throw new DamagedArchive("it is torn");
    return { ...member, path };
  }

  content(size: number): Buffer {
    const bytes = this.#take(size);
    this.#at += padding(size);
    return bytes;
  }

  skip(size: number): void {
    this.#at += size + padding(size);
  }

  *pieces(size: number): Generator<Buffer> {
    for (let left = size; left > 0; ) {
      const count = this.#read(this.#buffer, 0, Math.min(CHUNK, left));
      yield this.#buffer.subarray(0, count);
      left -= count;
    }
    this.#at += padding(size);
  }

  #header(): Exclude<ReturnType<typeof readTarHeader>, null | { kind: "end" }> {
    const header = readTarHeader(this.#take(BLOCK));
    if (header === null || header.kind === "end") throw new DamagedArchive("it is torn");
    return header;
  }

  #take(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) done += this.#read(bytes, done, length - done);
    return bytes;
  }

  #read(into: Buffer, offset: number, length: number): number {
    const count = this.#source.read(into, offset, Math.min(CHUNK, length), this.#at);
    if (count === 0) throw new DamagedArchive("it is torn");
    this.#at += count;
    this.#onRead(count);
    return count;
  }
}
