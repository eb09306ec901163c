// Cuts stderr into texts of whole lines for the meta file, up to a total; the rest is counted.
import { boundaryBefore } from "./cut-text.ts";
import { LIMITS } from "./waits.ts";

const NEWLINE = 0x0a;

export class StderrPieces {
  dropped = 0;
  #taken = 0;
  #rest: Buffer = Buffer.alloc(0);

  feed(chunk: Buffer): string[] {
    const room = LIMITS.stderrKept - this.#taken;
    const kept = chunk.subarray(0, room);
    this.#taken += kept.length;
    this.dropped += chunk.length - kept.length;
    if (kept.length === 0) return [];
    this.#rest = Buffer.concat([this.#rest, kept]);
    const pieces: string[] = [];
    for (let cut = this.#cut(); cut > 0; cut = this.#cut()) pieces.push(this.#take(cut));
    return pieces;
  }

  end(): string[] {
    return this.#rest.length > 0 ? [this.#take(this.#rest.length)] : [];
  }

  /** After the last newline within one piece's size; inside a line only when the line alone is larger than that. */
  #cut(): number {
    const newline = this.#rest.lastIndexOf(NEWLINE, LIMITS.stderrPiece - 1);
    if (newline !== -1) return newline + 1;
    // Only when the byte behind the cut is here too: it tells whether a character would be halved.
    return this.#rest.length > LIMITS.stderrPiece ? boundaryBefore(this.#rest, LIMITS.stderrPiece) : 0;
  }

  #take(length: number): string {
    const text = this.#rest.subarray(0, length).toString();
    this.#rest = this.#rest.subarray(length);
    return text;
  }
}
