// Copies bytes to the runner's own stdout or stderr for `kubectl logs`; a log nobody takes costs a bounded buffer, then gaps.
import type { Writable } from "node:stream";
import { LIMITS, sleep } from "./waits.ts";

export class LogCopy {
  skipped = 0;
  readonly #stream: Writable;
  #pending = 0;
  #closed = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", () => {
      this.#closed = true;
    });
  }

  write(chunk: Buffer): void {
    if (this.#closed || this.#pending + chunk.length > LIMITS.logCopy) {
      this.skipped += chunk.length;
      return;
    }
    this.#pending += chunk.length;
    // Counted by callback: not every runtime's `writableLength` tells what is waiting.
    this.#stream.write(chunk, () => {
      this.#pending -= chunk.length;
    });
  }

  async drained(ms: number): Promise<void> {
    for (const end = performance.now() + ms; this.#pending > 0 && !this.#closed && performance.now() < end; ) await sleep(5);
  }
}
