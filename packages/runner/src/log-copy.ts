// Copies bytes to the runner's own stdout or stderr for `kubectl logs`; a log nobody takes costs a bounded buffer, then gaps.
import type { Writable } from "node:stream";
import { LIMITS, sleep } from "./waits.ts";

/** With a full buffer and nothing taken for this long, the copy gets gaps and the CLI goes on. */
const STALL_MS = 1_000;

export class LogCopy {
  skipped = 0;
  full = false;
  /** The buffer is full (true) or has room again (false): a log that moves may slow the CLI, as in any container. */
  onFull: (full: boolean) => void = () => {};
  readonly #stream: Writable;
  #pending = 0;
  #closed = false;
  #stalled = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", () => {
      this.#closed = true;
      this.giveUp();
    });
  }

  write(chunk: Buffer): void {
    if (this.#closed || (this.#stalled && this.#pending + chunk.length > LIMITS.logCopy)) {
      this.skipped += chunk.length;
      return;
    }
    this.#pending += chunk.length;
    // Counted by callback: not every runtime's `writableLength` tells what is waiting.
    this.#stream.write(chunk, () => this.#onTaken(chunk.length));
    if (this.#pending > LIMITS.logCopy) this.#setFull(true);
  }

  giveUp(): void {
    this.#stalled = true;
    this.#setFull(false);
  }

  async drained(ms: number): Promise<void> {
    for (const end = performance.now() + ms; this.#pending > 0 && !this.#closed && performance.now() < end; ) await sleep(5);
  }

  #onTaken(length: number): void {
    this.#pending -= length;
    this.#stalled = false;
    if (!this.full) return;
    if (this.#pending <= LIMITS.logCopy / 2) this.#setFull(false);
    else this.#watchStall();
  }

  #setFull(full: boolean): void {
    if (this.full === full) return;
    this.full = full;
    this.#watchStall();
    this.onFull(full);
  }

  #watchStall(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = this.full ? setTimeout(() => this.giveUp(), STALL_MS) : null;
  }
}
