// The writer process: a runner with a thread stuck in a file call could never exit, so another process writes the lock, output and meta files.
import { createHash } from "node:crypto";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { codeOf, flush, orNull, writeAll } from "../files.ts";
import type { Ack, OpenCommand, ToWriter } from "./protocol.ts";

const FLUSH_EVERY_MS = 100;

export function runWriter(): void {
  // A runner that is gone takes no answers; what it gave is still written.
  const send = (ack: Ack, sent = (): void => {}): void => void process.send?.(ack, undefined, undefined, sent);
  const writer = new VolumeWriter(send);
  process.on("message", (message: ToWriter) => {
    if (message.type === "output") writer.output(message.bytes);
    else if (message.type === "meta") writer.meta(message.bytes);
    else if (message.type === "open") writer.open(message.command);
    else if (message.type === "flush") {
      writer.flush();
      send({ type: "settled" });
    } else {
      writer.finish();
      send({ type: "done" }, () => process.exit(0));
    }
  });
  process.on("disconnect", () => {
    writer.flush();
    process.exit(0);
  });
  send({ type: "started" });
}

const NAMES = { output: "output", meta: "meta file" } as const;

/** Every call may block for as long as the volume does. */
class VolumeWriter {
  readonly #ack: (ack: Ack) => void;
  #open: { output: number | null; meta: number | null } = { output: null, meta: null };
  #written = 0;
  #flushed = 0;
  /** Hash of everything that was written, and the digest as it was at the last flush. */
  readonly #hash = createHash("sha256");
  #flushedSha256 = this.#hash.copy().digest("hex");
  #metaDirty = false;
  #timer: NodeJS.Timeout | undefined;
  #lastFlush = 0;

  constructor(ack: (ack: Ack) => void) {
    this.#ack = ack;
  }

  /** Creates the lock file, then opens the others. Nothing is written when another pod owns the run or a file cannot be opened. */
  open({ files, ...owner }: OpenCommand): void {
    let step = "create the lock file";
    try {
      const lock = openSync(files.lock, "wx", 0o644);
      writeAll(lock, Buffer.from(`${JSON.stringify(owner)}\n`));
      flush(fdatasyncSync, lock);
      closeSync(lock);
      step = "open the output";
      this.#open = { output: openSync(files.output, "a", 0o644), meta: openSync(files.meta, "a", 0o644) };
      this.#ack({ type: "opened" });
    } catch (error) {
      const taken = codeOf(error) === "EEXIST";
      this.#ack(taken ? { type: "taken" } : { type: "error", file: "open", text: `cannot ${step}: ${textOf(error)}` });
    }
  }

  output(bytes: Buffer): void {
    const before = this.#written;
    const onWritten = (count: number): void => {
      this.#hash.update(bytes.subarray(this.#written - before, this.#written - before + count));
      this.#written += count;
    };
    this.#attempt("output", "write", (fd) => writeAll(fd, bytes, onWritten));
    this.#progress();
    this.#flushSoon();
  }

  meta(record: Buffer): void {
    this.#attempt("meta", "write", (fd) => writeAll(fd, record));
    this.#metaDirty = true;
    this.#flushSoon();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#flushed < this.#written) {
      this.#attempt("output", "flush", (fd) => flush(fdatasyncSync, fd));
      this.#confirm();
    }
    if (this.#metaDirty) this.#attempt("meta", "flush", (fd) => flush(fdatasyncSync, fd));
    this.#metaDirty = false;
    this.#lastFlush = performance.now();
    this.#progress();
  }

  /** A network file system may report an error only at the close. */
  finish(): void {
    this.flush();
    for (const fd of Object.values(this.#open)) if (fd !== null) closeSync(fd);
  }

  /** A file is not written to any more after a fault. */
  #attempt(file: "output" | "meta", step: "write" | "flush", work: (fd: number) => void): void {
    const fd = this.#open[file];
    if (fd === null) return;
    try {
      work(fd);
    } catch (error) {
      this.#open[file] = null;
      // What was written before the fault is a prefix a reader may use, if it can still be flushed; a failed flush takes it back.
      if (file === "output" && step === "write" && orNull(() => flush(fdatasyncSync, fd))) this.#confirm();
      if (file === "output") this.#written = this.#flushed;
      this.#ack({ type: "error", file, text: `cannot ${step} the ${NAMES[file]}: ${textOf(error)}` });
    }
  }

  /** What was written is on the volume. */
  #confirm(): void {
    if (this.#flushed === this.#written) return;
    this.#flushed = this.#written;
    this.#flushedSha256 = this.#hash.copy().digest("hex");
  }

  #progress(): void {
    this.#ack({ type: "progress", written: this.#written, flushed: this.#flushed, sha256: this.#flushedSha256 });
  }

  /** At once after a pause, then at most every 100 ms. */
  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#lastFlush + FLUSH_EVERY_MS - performance.now()));
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown error");
