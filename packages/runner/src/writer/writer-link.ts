// The runner's side of its writer: feeds it within bounds and knows what reached the volume.
import { CHILD_START_MS, LIMITS, sleep } from "../limits.ts";
import type { MetaRecord } from "../records.ts";
import type { WakeUpCommand } from "../wake-up/sender.ts";
import { Backlog } from "./backlog.ts";
import type { Ack, OpenCommand, ToWriter } from "./protocol.ts";
import type { RecordLines } from "./record-lines.ts";
import { startWriter, type Writer } from "./start-writer.ts";

export type OpenAnswer = { readonly kind: "opened" | "taken" | "silent" } | { readonly kind: "failed"; readonly error: string };

/** How often an end that may come nearer is looked at. */
const LOOK_MS = 200;

export class WriterLink {
  readonly backlog: Backlog;
  /** Another pod owns the run; on a slow volume this is known long after the CLI's start. */
  onTaken: () => void = () => {};
  /** The run was cancelled before its CLI was started, which a slow volume shows late. */
  onForbidden: () => void = () => {};
  /** The volume is full, and why, or has room again. */
  onFull: (text: string | null) => void = () => {};
  /** Why output is no longer given to the writer. */
  error: string | null = null;
  /** Why the meta file is not complete. */
  metaError: string | null = null;
  /** Output bytes that are on the volume for certain, and their SHA-256. */
  flushed = 0;
  flushedSha256: string | null = null;
  /** Given before the first record, which the files need not wait for. */
  records: RecordLines | null = null;
  readonly #writer: Writer;
  #sent = 0;
  #written = 0;
  #over = false;
  #answer: OpenAnswer | null = null;
  #noRoom: string | null = null;
  readonly #acks = new Set<Ack["type"]>();
  #waiters: Array<() => void> = [];

  constructor(runnerFile: string, command: OpenCommand, stallMs: number) {
    this.backlog = new Backlog(LIMITS.unwritten, stallMs, () => this.giveUp(`the volume took no output for ${stallMs / 1000} s`));
    this.#writer = startWriter(runnerFile, { onAck: (ack) => this.#onAck(ack), onOver: (reason) => this.#onOver(reason) });
    this.#send({ type: "open", command });
  }

  /** Whether another pod owns the run, as far as the volume has answered. */
  get taken(): boolean {
    return this.#answer?.kind === "taken";
  }

  /** Waits for the volume's answer, counted from the writer's own start; after "silent" the messages stay queued. */
  async opened(ms: number): Promise<OpenAnswer> {
    const within = (limit: number): (() => number) => {
      const end = performance.now() + limit;
      return () => end;
    };
    await this.#until(() => this.#acks.has("started"), within(CHILD_START_MS));
    await this.#until(() => this.#answer !== null, within(ms));
    return this.#answer ?? { kind: "silent" };
  }

  /** Claims the CLI's start. A volume that does not answer in time keeps no CLI from starting; what it says later is heard. */
  async claimStart(ms: number): Promise<void> {
    this.#send({ type: "claim-start" });
    const end = performance.now() + (this.#answer?.kind === "opened" ? ms : 0);
    await this.#until(
      () => this.#acks.has("start"),
      () => end,
    );
  }

  output(chunk: Buffer): void {
    if (this.error !== null) return;
    this.#send({ type: "output", bytes: chunk });
    this.#sent += chunk.length;
    this.backlog.grew(this.#sent - this.#written);
  }

  meta(record: MetaRecord): void {
    if (this.records) this.#send({ type: "meta", bytes: Buffer.from(this.records.line(record)) });
  }

  /** Called when the CLI has started, which must not wait for the modules that this needs. */
  startWakeUps(command: WakeUpCommand | null): void {
    if (command !== null) this.#send({ type: "wake-ups", command });
  }

  /** From here on output is only counted: what follows a gap must not be appended. */
  giveUp(reason: string): void {
    this.error ??= this.#noRoom === null ? reason : `${reason}: ${this.#noRoom}`;
    this.backlog.clear();
  }

  /** True when the writer has dealt with everything it was given: `flushed` is final then. */
  flush(end: () => number): Promise<boolean> {
    this.#send({ type: "flush" });
    return this.#until(() => this.#acks.has("settled"), end);
  }

  /** Lets the writer end by itself. */
  finish(end: () => number): Promise<boolean> {
    this.#send({ type: "finish" });
    return this.#until(() => this.#acks.has("done"), end);
  }

  kill(): void {
    this.#writer.kill();
  }

  #send(message: ToWriter): void {
    this.#writer.send(message);
  }

  #onAck(ack: Ack): void {
    this.#acks.add(ack.type);
    if (ack.type === "progress") this.#onProgress(ack);
    else if (ack.type === "full") {
      this.#noRoom = ack.text;
      this.onFull(ack.text);
    } else if (ack.type === "opened") this.#answer = { kind: "opened" };
    else if (ack.type === "taken") {
      this.#answer = { kind: "taken" };
      this.giveUp("another pod owns this run");
      this.onTaken();
    } else if (ack.type === "start" && !ack.allowed) this.onForbidden();
    else if (ack.type === "error") {
      if (ack.file === "open") this.#answer = { kind: "failed", error: ack.text };
      if (ack.file === "meta") this.metaError = ack.text;
      else this.giveUp(ack.text);
    }
    this.#notify();
  }

  #onProgress({ written, flushed, sha256 }: Extract<Ack, { type: "progress" }>): void {
    const moved = written > this.#written;
    this.#written = written;
    this.flushed = flushed;
    this.flushedSha256 = sha256;
    if (moved) this.backlog.moved(this.#sent - written);
  }

  #onOver(reason: string): void {
    this.#over = true;
    if (!this.#acks.has("done")) this.giveUp(reason);
    this.#answer ??= { kind: "failed", error: reason };
    this.#notify();
  }

  #notify(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  /** `end`: asked again and again, for a pod that is to stop has less time. */
  async #until(met: () => boolean, end: () => number): Promise<boolean> {
    for (let left = end() - performance.now(); !met() && left > 0 && !this.#over; left = end() - performance.now())
      await Promise.race([sleep(Math.min(left, LOOK_MS)), new Promise<void>((resolve) => this.#waiters.push(resolve))]);
    return met();
  }
}
