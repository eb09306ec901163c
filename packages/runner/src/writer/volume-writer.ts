// The writer of the lock, output and meta files. No call blocks the thread it works in, however long the volume takes.
import { closeFile, isLocal, openFile, writeWhole } from "../file-calls.ts";
import { codeOf } from "../files.ts";
import { sleep } from "../limits.ts";
import { startFileOf } from "../records.ts";
import type { WakeUpCommand, WakeUpSender } from "../wake-up/sender.ts";
import { AppendedFile, flushFile } from "./appended-file.ts";
import type { Ack, OpenCommand, ToWriter } from "./protocol.ts";

const FLUSH_EVERY_MS = 100;
/** What has piled up meanwhile is written in pieces of at most this size: each is a sign that the volume moves. */
const LARGEST_WRITE = 128 * 1024;
/** How often a volume that is full is tried again. */
const ROOM_EVERY_MS = 500;

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

const NAMES = { output: "output", meta: "meta file" } as const;
type Name = keyof typeof NAMES;

/** `sync`: the flush that a timer asks for, which nobody waits for. */
type Work = ToWriter | { readonly type: "sync" };

/** Each call may take as long as the volume does; there is one at a time, so that output and records keep their order. */
export class VolumeWriter {
  readonly #ack: (ack: Ack) => void;
  #queue: Work[] = [];
  #busy = false;
  #abandoned = false;
  /** Null = nothing is written to it any more. */
  #open: { output: AppendedFile | null; meta: AppendedFile | null } = { output: null, meta: null };
  /** Both, also after a fault. */
  #files: Readonly<Record<Name, AppendedFile>> | null = null;
  #outputFile = "";
  #startFile = "";
  #isFull = false;
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
    if (work.type === "output") await this.#append("output", work.bytes);
    else if (work.type === "meta") await this.#append("meta", work.bytes);
    else if (work.type === "open") await this.#openAll(work.command);
    else if (work.type === "claim-start") this.#ack({ type: "start", allowed: await this.#claimStart() });
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
      await flushFile(lock);
      await closeFile(lock);
      step = "open the output";
      const noRoom = (error: unknown): Promise<void> => this.#noRoom(error);
      this.#files = {
        output: new AppendedFile(await openFile(files.output, "a", 0o644), true, noRoom),
        meta: new AppendedFile(await openFile(files.meta, "a", 0o644), false, noRoom),
      };
      this.#open = { ...this.#files };
      this.#ack({ type: "opened" });
      this.#outputFile = files.output;
      this.#startFile = startFileOf(files);
    } catch (error) {
      const taken = codeOf(error) === "EEXIST";
      this.#ack(taken ? { type: "taken" } : { type: "error", file: "open", text: `cannot ${step}: ${textOf(error)}` });
    }
  }

  /** Whoever makes this file first decides: a server that cancels the run makes it too. Trouble with the volume keeps no CLI from starting. */
  async #claimStart(): Promise<boolean> {
    try {
      await closeFile(await openFile(this.#startFile, "wx", 0o644));
      return true;
    } catch (error) {
      return codeOf(error) !== "EEXIST";
    }
  }

  async #startWakeUps(command: WakeUpCommand): Promise<void> {
    if (this.#open.output === null) return;
    const { WakeUpSender } = await import("../wake-up/sender.ts");
    this.#wakeUps = new WakeUpSender(command);
    this.#seenLate = !(await isLocal(this.#outputFile));
    const { written = 0 } = this.#files?.meta ?? {};
    if (written > 0) this.#wakeUps.written("meta", written);
  }

  async #append(name: Name, bytes: Buffer): Promise<void> {
    await this.#attempt(name, "write", (file) => file.append(bytes));
    this.#wakeUps?.written(name, this.#files?.[name].written ?? 0);
    if (name === "output") this.#progress();
    this.#flushSoon();
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const name of ["output", "meta"] as const) {
      const file = this.#open[name];
      if (file === null || file.flushed === file.written) continue;
      await this.#attempt(name, "flush", () => file.flush());
      if (this.#seenLate) this.#wakeUps?.written(name, file.written);
    }
    this.#lastFlush = performance.now();
    this.#progress();
  }

  async #finish(): Promise<void> {
    for (const name of ["output", "meta"] as const) await this.#attempt(name, "close", (file) => file.close());
    this.#open = { output: null, meta: null };
    this.#wakeUps?.finish();
    this.#ack({ type: "done" });
  }

  /** Whoever gives up waiting abandons the writer. */
  async #noRoom(error: unknown): Promise<void> {
    if (!this.#isFull) this.#ack({ type: "full", text: textOf(error) });
    this.#isFull = true;
    await sleep(ROOM_EVERY_MS);
    if (this.#abandoned) throw error;
  }

  /** A file is not written to any more after a fault. */
  async #attempt(name: Name, step: "write" | "flush" | "close", work: (file: AppendedFile) => Promise<void>): Promise<void> {
    const file = this.#open[name];
    if (file === null) return;
    try {
      await work(file);
      if (this.#isFull) this.#ack({ type: "full", text: null });
      this.#isFull = false;
    } catch (error) {
      this.#open[name] = null;
      if (step === "write") await file.keepPrefix();
      else file.written = file.flushed;
      this.#ack({ type: "error", file: name, text: `cannot ${step} the ${NAMES[name]}: ${textOf(error)}` });
    }
  }

  #progress(): void {
    if (this.#files === null) return;
    const { written, flushed, flushedSha256: sha256 } = this.#files.output;
    this.#ack({ type: "progress", written, flushed, sha256 });
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

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown error");
