// A file that only grows, on a volume that may run full: what was not confirmed by a flush is kept, and written again when there is room.
import type { Hash } from "node:crypto";
import { closeFile, cutFile, statFile, syncData, writeWhole } from "../file-calls.ts";
import { codeOf, NO_FLUSH } from "../files.ts";

const FULL = ["ENOSPC", "EDQUOT"];
/** What is kept of output that was written and not flushed yet. */
const MOST_UNCONFIRMED = 4 * 1024 * 1024;

/** Known without the module that makes hashes: that is loaded with the first byte, not before the CLI's start. */
const SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Called when the volume has no room: resolves when it is worth another try, rejects when nobody waits for that any more. */
export type NoRoom = (error: unknown) => Promise<void>;

export class AppendedFile {
  /** Bytes handed to the volume, and those that it has confirmed. */
  written = 0;
  flushed = 0;
  /** Of the confirmed ones. */
  flushedSha256 = SHA256_OF_NOTHING;
  readonly #fd: number;
  readonly #noRoom: NoRoom;
  readonly #isHashed: boolean;
  /** What the file had before; null before the first byte. */
  #start: number | null = null;
  #unconfirmed: Buffer[] = [];
  /** Of what was written; null before the first byte, and where nobody asks for it. */
  #hash: Hash | null = null;
  #flushedHash: Hash | null = null;
  /** A flush has failed: what came after the one before is uncertain for good, since a system reports a lost write only once. */
  #isUncertain = false;

  constructor(fd: number, isHashed: boolean, noRoom: NoRoom) {
    this.#fd = fd;
    this.#isHashed = isHashed;
    this.#noRoom = noRoom;
  }

  async append(bytes: Buffer): Promise<void> {
    this.#start ??= (await statFile(this.#fd)).size;
    if (this.#isHashed) this.#hash ??= await newHash();
    this.#unconfirmed.push(bytes);
    await this.#write(bytes);
    if (this.written - this.flushed > MOST_UNCONFIRMED) await this.flush();
  }

  async flush(): Promise<void> {
    while (this.flushed < this.written) {
      try {
        await flushFile(this.#fd);
        this.#confirm();
      } catch (error) {
        this.#isUncertain = true;
        if (!FULL.includes(codeOf(error))) throw error;
        await this.#writeAgain(error);
        this.#isUncertain = false;
      }
    }
  }

  /** A network file system may report an error only now. */
  close(): Promise<void> {
    return closeFile(this.#fd);
  }

  /** After a fault: what was written before is a prefix that a reader may use if it can still be flushed; all else is taken back. */
  async keepPrefix(): Promise<void> {
    if (!this.#isUncertain)
      await flushFile(this.#fd).then(
        () => this.#confirm(),
        () => {},
      );
    this.written = this.flushed;
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      try {
        await writeWhole(this.#fd, bytes.subarray(done), (count) => {
          this.#hash?.update(bytes.subarray(done, done + count));
          done += count;
          this.written += count;
        });
      } catch (error) {
        if (!FULL.includes(codeOf(error))) throw error;
        await this.#noRoom(error);
      }
    }
  }

  /** A system that finds no room only when it flushes may have dropped what it had taken before. */
  async #writeAgain(error: unknown): Promise<void> {
    await this.#noRoom(error);
    await cutFile(this.#fd, (this.#start ?? 0) + this.flushed);
    this.written = this.flushed;
    if (this.#isHashed) this.#hash = this.#flushedHash?.copy() ?? (await newHash());
    for (const bytes of this.#unconfirmed) await this.#write(bytes);
  }

  #confirm(): void {
    if (this.flushed === this.written) return;
    this.flushed = this.written;
    this.#unconfirmed = [];
    if (this.#hash === null) return;
    this.#flushedHash = this.#hash.copy();
    this.flushedSha256 = this.#hash.copy().digest("hex");
  }
}

const newHash = async (): Promise<Hash> => (await import("node:crypto")).createHash("sha256");

/** Some file systems have no flush, and need none. */
export async function flushFile(fd: number): Promise<void> {
  try {
    await syncData(fd);
  } catch (error) {
    if (!NO_FLUSH.includes(codeOf(error))) throw error;
  }
}
