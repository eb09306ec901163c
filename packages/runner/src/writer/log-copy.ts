// Copies bytes to the runner's own stdout or stderr for `kubectl logs`; a log that nobody reads costs a bounded buffer, then gaps.
import type { Writable } from "node:stream";
import { LIMITS, sleep } from "../limits.ts";
import { Backlog } from "./backlog.ts";

/** With a full buffer and nothing taken for this long, the copy gets gaps and the CLI goes on. */
const STALL_MS = 1_000;

export class LogCopy {
  skipped = 0;
  /** A log that moves may slow the CLI, as in any container. */
  readonly backlog = new Backlog(LIMITS.logCopy, STALL_MS, () => this.giveUp());
  readonly #stream: Writable;
  #pending = 0;
  #closed = false;
  #stalled = false;

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
    this.#stream.write(chunk, () => this.#onTaken(chunk.length));
    this.backlog.grew(this.#pending);
  }

  giveUp(): void {
    this.#stalled = true;
    this.backlog.clear();
  }

  async drained(ms: number): Promise<void> {
    for (const end = performance.now() + ms; this.#pending > 0 && !this.#closed && performance.now() < end; ) await sleep(5);
  }

  #onTaken(length: number): void {
    this.#pending -= length;
    this.#stalled = false;
    this.backlog.moved(this.#pending);
  }
}
