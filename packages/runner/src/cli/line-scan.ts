// Counts what passes by on stdout and remembers the last line that matches a pattern, in bounded memory.
import { cutText } from "../cut-text.ts";
import { LIMITS } from "../limits.ts";

const NEWLINE = 0x0a;

export interface FinalLineEvents {
  readonly seen?: () => void;
  readonly takenBackBy?: RegExp | null;
  readonly takenBack?: () => void;
}

export class LineScan {
  bytes = 0;
  lines = 0;
  finalLine: string | null = null;
  readonly #pattern: RegExp | null;
  readonly #on: FinalLineEvents;
  /** Beginning of a line that is not whole yet: all of it, or somewhat more than is ever matched. */
  #parts: Buffer[] = [];
  #size = 0;

  constructor(pattern: RegExp | null, on: FinalLineEvents = {}) {
    this.#pattern = pattern;
    this.#on = on;
  }

  feed(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += LIMITS.matchedHead) this.#feed(chunk.subarray(at, at + LIMITS.matchedHead));
  }

  /** Lines that lie within the chunk are decoded and split together: one native call for all, not three for each. */
  #feed(chunk: Buffer): void {
    this.bytes += chunk.length;
    const first = chunk.indexOf(NEWLINE);
    if (first === -1) {
      this.#keep(chunk);
      return;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    this.lines += 1;
    this.#lineEnds(chunk.subarray(0, first));
    if (last > first) {
      const lines = chunk.toString("utf8", first + 1, last).split("\n");
      this.lines += lines.length;
      if (this.#pattern) for (const line of lines) this.#match(line);
    }
    this.#keep(chunk.subarray(last + 1));
  }

  /** A last line without newline counts as a line to match, not as a newline. */
  end(): void {
    if (this.#size > 0) this.#lineEnds(Buffer.alloc(0));
  }

  #lineEnds(tail: Buffer): void {
    this.#keep(tail);
    const line = Buffer.concat(this.#parts).toString("utf8", 0, this.#size > LIMITS.matchedLine ? LIMITS.matchedHead : this.#size);
    this.#parts = [];
    this.#size = 0;
    this.#match(line);
  }

  #match(line: string): void {
    if (this.#pattern?.test(line)) {
      this.finalLine = cutText(line, LIMITS.finalLine);
      this.#on.seen?.();
    } else if (this.finalLine !== null && this.#on.takenBackBy?.test(line)) this.#on.takenBack?.();
  }

  #keep(piece: Buffer): void {
    if (this.#pattern === null || this.#size > LIMITS.matchedLine) return;
    if (this.#parts.length >= 1024) this.#parts = [Buffer.concat(this.#parts)];
    // A copy: a view would keep all of the chunk that it is a part of.
    this.#parts.push(Buffer.from(piece));
    this.#size += piece.length;
  }
}
