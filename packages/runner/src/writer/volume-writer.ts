// The writer of the lock, output and meta files. No call blocks the thread it works in, however long the volume takes.
import type { Hash } from "node:crypto";
import { closeFile, isLocal, openFile, syncData, writeWhole } from "../file-calls.ts";
import { codeOf, NO_FLUSH } from "../files.ts";
import type { WakeUpCommand, WakeUpSender } from "../wake-up/sender.ts";
import type { Ack, OpenCommand, ToWriter } from "./protocol.ts";

const FLUSH_EVERY_MS = 100;
/** What has piled up meanwhile is written in pieces of at most this size: each is a sign that the volume moves. */
const LARGEST_WRITE = 128 * 1024;

/** The writer as a process of its own. */
export function runWriter(): void {
  // A runner that is gone takes no answers; what it gave is still written.
  const send = (ack: Ack): void =>
    void process.send?.(ack, undefined, undefined, () => {
      if (ack.type === "done") process.exit(0);
    });
  const writer = new VolumeWriter(send);
  process.on("message", (message: ToWriter) => writer.take(message));
  process.on("disconnect", () => writer.take({ type: "finish" }));
  send({ type: "started" });
}

/** Known without the module that makes hashes: that is loaded with the first byte of output, not before the CLI's start. */
const SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const NAMES = { output: "output", meta: "meta file" } as const;

/** `sync`: the flush that a timer asks for, which nobody waits for. */
type Work = ToWriter | { readonly type: "sync" };

/** Each call may take as long as the volume does; there is one at a time, so that output and records keep their order. */
export class VolumeWriter {
  readonly #ack: (ack: Ack) => void;
  #queue: Work[] = [];
  #busy = false;
  #abandoned = false;
  #open: { output: number | null; meta: number | null } = { output: null, meta: null };
  #outputFile = "";
  #written = 0;
  #flushed = 0;
  /** Of everything that was written; null before the first byte. */
  #hash: Hash | null = null;
  /** As it was at the last flush. */
  #flushedSha256 = SHA256_OF_NOTHING;
  #metaSize = 0;
  #metaDirty = false;
  #wakeUps: WakeUpSender | null = null;
  /** Others may see what was written only after a flush. */
  #seenLate = true;
  #timer: NodeJS.Timeout | undefined;
  #lastFlush = 0;

  constructor(ack: (ack: Ack) => void) {
    this.#ack = ack;
  }

  take(work: Work): void {
    this.#queue.push(work);
    if (!this.#busy) void this.#workOff();
  }

  /** Nothing more is begun. */
  abandon(): void {
    this.#abandoned = true;
    clearTimeout(this.#timer);
  }

  async #workOff(): Promise<void> {
    this.#busy = true;
    while (this.#queue.length > 0) for (const work of joined(this.#queue.splice(0))) if (!this.#abandoned) await this.#handle(work);
    this.#busy = false;
  }

  async #handle(work: Work): Promise<void> {
    if (work.type === "output") await this.#output(work.bytes);
    else if (work.type === "meta") await this.#meta(work.bytes);
    else if (work.type === "open") await this.#openAll(work.command);
    else if (work.type === "wake-ups") await this.#startWakeUps(work.command);
    else await this.#flush();
    if (work.type === "flush") this.#ack({ type: "settled" });
    if (work.type === "finish") await this.#finish();
  }

  /** Creates the lock file, then opens the others. Nothing is written when another pod owns the run or a file cannot be opened. */
  async #openAll({ files, ...owner }: OpenCommand): Promise<void> {
    let step = "create the lock file";
    try {
      const lock = await openFile(files.lock, "wx", 0o644);
      await writeWhole(lock, Buffer.from(`${JSON.stringify(owner)}\n`));
      await flushed(lock);
      await closeFile(lock);
      step = "open the output";
      this.#open = { output: await openFile(files.output, "a", 0o644), meta: await openFile(files.meta, "a", 0o644) };
      this.#ack({ type: "opened" });
      this.#outputFile = files.output;
    } catch (error) {
      const taken = codeOf(error) === "EEXIST";
      this.#ack(taken ? { type: "taken" } : { type: "error", file: "open", text: `cannot ${step}: ${textOf(error)}` });
    }
  }

  async #startWakeUps(command: WakeUpCommand): Promise<void> {
    if (this.#open.output === null) return;
    const { WakeUpSender } = await import("../wake-up/sender.ts");
    this.#wakeUps = new WakeUpSender(command);
    this.#seenLate = !(await isLocal(this.#outputFile));
    if (this.#metaSize > 0) this.#wakeUps.written("meta", this.#metaSize);
  }

  async #output(bytes: Buffer): Promise<void> {
    this.#hash ??= (await import("node:crypto")).createHash("sha256");
    const hash = this.#hash;
    const before = this.#written;
    const onWritten = (count: number): void => {
      hash.update(bytes.subarray(this.#written - before, this.#written - before + count));
      this.#written += count;
    };
    await this.#attempt("output", "write", (fd) => writeWhole(fd, bytes, onWritten));
    this.#wakeUps?.written("output", this.#written);
    this.#progress();
    this.#flushSoon();
  }

  async #meta(record: Buffer): Promise<void> {
    const onWritten = (count: number): void => {
      this.#metaSize += count;
    };
    await this.#attempt("meta", "write", (fd) => writeWhole(fd, record, onWritten));
    this.#wakeUps?.written("meta", this.#metaSize);
    this.#metaDirty = true;
    this.#flushSoon();
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#flushed < this.#written) {
      await this.#attempt("output", "flush", flushed);
      this.#confirm();
      if (this.#seenLate) this.#wakeUps?.written("output", this.#written);
    }
    if (this.#metaDirty) await this.#attempt("meta", "flush", flushed);
    if (this.#metaDirty && this.#seenLate) this.#wakeUps?.written("meta", this.#metaSize);
    this.#metaDirty = false;
    this.#lastFlush = performance.now();
    this.#progress();
  }

  /** A network file system may report an error only at the close. */
  async #finish(): Promise<void> {
    for (const file of ["output", "meta"] as const) await this.#attempt(file, "close", closeFile);
    this.#open = { output: null, meta: null };
    this.#wakeUps?.finish();
    this.#ack({ type: "done" });
  }

  /** A file is not written to any more after a fault. */
  async #attempt(file: "output" | "meta", step: "write" | "flush" | "close", work: (fd: number) => Promise<void>): Promise<void> {
    const fd = this.#open[file];
    if (fd === null) return;
    try {
      await work(fd);
    } catch (error) {
      this.#open[file] = null;
      // What was written before the fault is a prefix a reader may use, if it can still be flushed; a failed flush takes it back.
      if (file === "output" && step === "write" && (await succeeds(flushed(fd)))) this.#confirm();
      if (file === "output") this.#written = this.#flushed;
      this.#ack({ type: "error", file, text: `cannot ${step} the ${NAMES[file]}: ${textOf(error)}` });
    }
  }

  /** What was written is on the volume. */
  #confirm(): void {
    if (this.#flushed === this.#written || this.#hash === null) return;
    this.#flushed = this.#written;
    this.#flushedSha256 = this.#hash.copy().digest("hex");
  }

  #progress(): void {
    this.#ack({ type: "progress", written: this.#written, flushed: this.#flushed, sha256: this.#flushedSha256 });
  }

  /** At once after a pause, then at most every 100 ms. */
  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.take({ type: "sync" }), Math.max(0, this.#lastFlush + FLUSH_EVERY_MS - performance.now()));
  }
}

/** Output that follows on output is written in one call. */
function* joined(queue: readonly Work[]): Generator<Work> {
  let bytes: Buffer[] = [];
  let size = 0;
  for (const [index, work] of queue.entries()) {
    if (work.type !== "output") {
      yield work;
      continue;
    }
    bytes.push(work.bytes);
    size += work.bytes.length;
    const next = queue[index + 1];
    if (next?.type === "output" && size + next.bytes.length <= LARGEST_WRITE) continue;
    yield { type: "output", bytes: bytes.length === 1 ? work.bytes : Buffer.concat(bytes, size) };
    bytes = [];
    size = 0;
  }
}

async function flushed(fd: number): Promise<void> {
  try {
    await syncData(fd);
  } catch (error) {
    if (!NO_FLUSH.includes(codeOf(error))) throw error;
  }
}

const succeeds = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown error");
