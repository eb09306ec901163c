// Cuts stderr into texts of whole lines for the meta file: its beginning as it comes, its last lines at the end; what lies between is counted.
import { boundaryBefore } from "../cut-text.ts";
import { LIMITS } from "../limits.ts";

const NEWLINE = 0x0a;

export class StderrPieces {
  /** Bytes that are in no piece, known at the end. */
  dropped = 0;
  #taken = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** What came after the beginning: how many bytes, and the last chunks of them. */
  #fed = 0;
  #tail: Buffer[] = [];
  #tailSize = 0;

  feed(chunk: Buffer): string[] {
    const kept = chunk.subarray(0, LIMITS.stderrKept - this.#taken);
    this.#taken += kept.length;
    if (kept.length < chunk.length) this.#keepTail(chunk.subarray(kept.length));
    return this.#pieces(kept);
  }

  /** The reason why a CLI failed is usually in its last lines. */
  end(): string[] {
    const pieces = this.#pieces(this.#lastLines());
    return this.#rest.length > 0 ? [...pieces, this.#take(this.#rest.length)] : pieces;
  }

  #pieces(bytes: Buffer): string[] {
    if (bytes.length === 0) return [];
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const pieces: string[] = [];
    for (let cut = this.#cut(); cut > 0; cut = this.#cut()) pieces.push(this.#take(cut));
    return pieces;
  }

  /** Where something is missing before them, a line says so, and they begin with a line. */
  #lastLines(): Buffer {
    const lines = Buffer.concat(this.#tail).subarray(-LIMITS.stderrTail);
    if (this.#fed === lines.length) return lines;
    const begin = lineStart(lines);
    this.dropped = this.#fed - lines.length + begin;
    const mark = `${this.#rest.length > 0 ? "\n" : ""}… ${this.dropped} bytes left out\n`;
    return Buffer.concat([Buffer.from(mark), lines.subarray(begin)]);
  }

  /** A chunk is let go when those behind it are enough by themselves. */
  #keepTail(chunk: Buffer): void {
    this.#fed += chunk.length;
    // A copy: a view would keep all of the buffer that it is a part of.
    const end = Buffer.from(chunk.subarray(-LIMITS.stderrTail));
    this.#tail.push(end);
    this.#tailSize += end.length;
    for (let first = this.#tail[0]; first && this.#tailSize - first.length >= LIMITS.stderrTail; first = this.#tail[0]) {
      this.#tail.shift();
      this.#tailSize -= first.length;
    }
  }

  /** After the last newline within one piece's size; inside a line only when the line alone is larger than that. */
  #cut(): number {
    const newline = this.#rest.lastIndexOf(NEWLINE, LIMITS.stderrPiece - 1);
    if (newline !== -1) return newline + 1;
    // Only when the byte behind the cut is here too: it shows whether a character would be halved.
    return this.#rest.length > LIMITS.stderrPiece ? boundaryBefore(this.#rest, LIMITS.stderrPiece) : 0;
  }

  #take(length: number): string {
    const text = this.#rest.subarray(0, length).toString();
    this.#rest = this.#rest.subarray(length);
    return text;
  }
}

/** Of one long line, the first whole character. */
function lineStart(bytes: Buffer): number {
  const newline = bytes.indexOf(NEWLINE);
  if (newline !== -1 && newline < bytes.length - 1) return newline + 1;
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, start);
}
