// The writer process: a runner with a thread stuck in a file call could never exit, so another process writes the lock, output and meta files.
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { codeOf, flush, writeAll } from "../files.ts";
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

/** Every call may block for as long as the volume does. */
class VolumeWriter {
  readonly #ack: (ack: Ack) => void;
  #output: number | null = null;
  #meta: number | null = null;
  #written = 0;
  #flushed = 0;
  #metaDirty = false;
  #timer: NodeJS.Timeout | null = null;
  #lastFlush = 0;

  constructor(ack: (ack: Ack) => void) {
    this.#ack = ack;
  }

  /** Creates the lock file, then opens the others. Nothing is written when another pod owns the run or a file cannot be opened. */
  open({ files, ...owner }: OpenCommand): void {
    try {
      const lock = openSync(files.lock, "wx", 0o644);
      writeAll(lock, Buffer.from(`${JSON.stringify(owner)}\n`));
      flush(fdatasyncSync, lock);
      closeSync(lock);
    } catch (error) {
      const taken = codeOf(error) === "EEXIST";
      this.#ack(taken ? { type: "taken" } : { type: "error", file: "open", text: `cannot create the lock file: ${textOf(error)}` });
      return;
    }
    try {
      this.#output = openSync(files.output, "a", 0o644);
      this.#meta = openSync(files.meta, "a", 0o644);
    } catch (error) {
      this.#ack({ type: "error", file: "open", text: `cannot open the output: ${textOf(error)}` });
      return;
    }
    this.#ack({ type: "opened" });
  }

  output(bytes: Buffer): void {
    if (this.#output === null) return;
    try {
      writeAll(this.#output, bytes, (count) => {
        this.#written += count;
      });
      this.#progress();
    } catch (error) {
      this.#giveUpOutput(`cannot write the output: ${textOf(error)}`);
    }
    this.#flushSoon();
  }

  meta(record: Buffer): void {
    if (this.#meta === null) return;
    try {
      writeAll(this.#meta, record);
      this.#metaDirty = true;
    } catch (error) {
      this.#meta = null;
      this.#ack({ type: "error", file: "meta", text: `cannot write the meta file: ${textOf(error)}` });
    }
    this.#flushSoon();
  }

  /** A flush of the output that fails takes back what was counted as written since the last one. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#output !== null && this.#flushed < this.#written) {
      try {
        flush(fdatasyncSync, this.#output);
        this.#flushed = this.#written;
      } catch (error) {
        this.#giveUpOutput(`cannot flush the output: ${textOf(error)}`);
      }
    }
    if (this.#meta !== null && this.#metaDirty) {
      try {
        flush(fdatasyncSync, this.#meta);
        this.#metaDirty = false;
      } catch (error) {
        this.#meta = null;
        this.#ack({ type: "error", file: "meta", text: `cannot flush the meta file: ${textOf(error)}` });
      }
    }
    this.#lastFlush = performance.now();
    this.#progress();
  }

  /** A network file system may report an error only at the close. */
  finish(): void {
    this.flush();
    for (const fd of [this.#output, this.#meta]) if (fd !== null) closeSync(fd);
  }

  #progress(): void {
    this.#ack({ type: "progress", written: this.#written, flushed: this.#flushed });
  }

  /** What was written before the fault is flushed if it can be: it is a prefix a reader may use. */
  #giveUpOutput(text: string): void {
    const fd = this.#output;
    this.#output = null;
    if (fd !== null && this.#flushed < this.#written) {
      try {
        flush(fdatasyncSync, fd);
        this.#flushed = this.#written;
      } catch {
        this.#written = this.#flushed;
      }
    }
    this.#progress();
    this.#ack({ type: "error", file: "output", text });
  }

  /** At once after a pause, then at most every 100 ms. */
  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#lastFlush + FLUSH_EVERY_MS - performance.now()));
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown error");
