// Counts what passes by on stdout and remembers the last line that matches a pattern, in bounded memory.
import { cutText } from "./cut-text.ts";
import { LIMITS } from "./waits.ts";

const NEWLINE = 0x0a;

export class LineScan {
  bytes = 0;
  lines = 0;
  finalLine: string | null = null;
  readonly #pattern: RegExp | null;
  readonly #onFinalLine: () => void;
  /** Beginning of a line that is not whole yet; grows up to the limit, so that many tiny reads cost no more than one. */
  #kept: Buffer = Buffer.alloc(0);
  #keptLength = 0;
  #tooLong = false;

  constructor(pattern: RegExp | null, onFinalLine: () => void = () => {}) {
    this.#pattern = pattern;
    this.#onFinalLine = onFinalLine;
  }

  feed(chunk: Buffer): void {
    this.bytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.lines += 1;
      if (this.#pattern) this.#lineEnds(chunk.subarray(start, end));
      start = end + 1;
    }
    if (this.#pattern && start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** A last line without newline counts as a line to match, not as a newline. */
  end(): void {
    if (this.#pattern && this.#keptLength > 0) this.#lineEnds(Buffer.alloc(0));
  }

  #lineEnds(tail: Buffer): void {
    if (this.#keptLength === 0) {
      this.#match(tail.length > LIMITS.matchedLine ? tail.subarray(0, LIMITS.matchedHead) : tail);
      return;
    }
    this.#keep(tail);
    const line = this.#kept.subarray(0, this.#tooLong ? LIMITS.matchedHead : this.#keptLength);
    this.#keptLength = 0;
    this.#tooLong = false;
    this.#match(line);
  }

  #match(line: Buffer): void {
    const text = line.toString();
    if (!this.#pattern?.test(text)) return;
    this.finalLine = cutText(text, LIMITS.finalLine);
    this.#onFinalLine();
  }

  #keep(piece: Buffer): void {
    if (this.#tooLong) return;
    const length = this.#keptLength + piece.length;
    const fits = piece.subarray(0, LIMITS.matchedLine - this.#keptLength);
    if (length > this.#kept.length && fits.length > 0) this.#grow(Math.min(length, LIMITS.matchedLine));
    fits.copy(this.#kept, this.#keptLength);
    this.#keptLength += fits.length;
    this.#tooLong = length > LIMITS.matchedLine;
  }

  #grow(atLeast: number): void {
    if (atLeast <= this.#kept.length) return;
    const larger = Buffer.alloc(Math.min(LIMITS.matchedLine, Math.max(atLeast, this.#kept.length * 2, 4096)));
    this.#kept.copy(larger, 0, 0, this.#keptLength);
    this.#kept = larger;
  }
}
