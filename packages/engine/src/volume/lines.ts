const newline = 0x0a;

export interface Line {
  /** Includes the newline; a piece of an over-long line does not, unless it is the last. */
  readonly bytes: Buffer;
  /** `piece`s are followed by more of the same line, `last-piece` ends it. */
  readonly part: "whole" | "piece" | "last-piece";
}

/** A line that lies in `bytes`. */
type TakeLine = (bytes: Buffer, from: number, to: number, part: Line["part"]) => void;

/** Cuts a stream of bytes at newlines only. It does not decode: a piece of a long line may end within a character. */
export class LineSplitter {
  readonly #maxLine: number;
  #parts: Buffer[] = [];
  #size = 0;
  #inPieces = false;

  constructor(options: { readonly maxLine?: number } = {}) {
    this.#maxLine = options.maxLine ?? 8 * 1024 * 1024;
  }

  push(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    this.each(bytes, (of, from, to, part) => void lines.push({ bytes: of.subarray(from, to), part }));
    return lines;
  }

  /** The same without an object for each line. */
  each(bytes: Buffer, take: TakeLine): void {
    let from = 0;
    while (from < bytes.length) {
      const at = bytes.indexOf(newline, from);
      const to = Math.min(at === -1 ? bytes.length : at + 1, from + this.#maxLine - this.#size);
      const ended = to === at + 1;
      const begun = from;
      from = to;
      if (ended && this.#size === 0) take(bytes, begun, to, this.#partAtEnd());
      else if (ended) this.#give(this.#end(bytes.subarray(begun, to)), take);
      else if (this.#size + to - begun >= this.#maxLine) this.#give(this.#cut(bytes.subarray(begun, to)), take);
      else this.#keep(bytes.subarray(begun, to));
    }
  }

  /** What came after the last newline. */
  rest(): Line | null {
    if (this.#size === 0) return null;
    return this.#end(Buffer.alloc(0));
  }

  // A copy: the bytes may be a view of a much larger buffer.
  #keep(segment: Buffer): void {
    if (this.#parts.length >= 1024) this.#parts = [Buffer.concat(this.#parts)];
    this.#parts.push(Buffer.from(segment));
    this.#size += segment.length;
  }

  #give({ bytes, part }: Line, take: TakeLine): void {
    take(bytes, 0, bytes.length, part);
  }

  #end(segment: Buffer): Line {
    return { bytes: this.#take(segment), part: this.#partAtEnd() };
  }

  #partAtEnd(): Line["part"] {
    const part = this.#inPieces ? "last-piece" : "whole";
    this.#inPieces = false;
    return part;
  }

  #cut(segment: Buffer): Line {
    this.#inPieces = true;
    return { bytes: this.#take(segment), part: "piece" };
  }

  #take(segment: Buffer): Buffer {
    if (this.#size === 0) return segment;
    const bytes = Buffer.concat([...this.#parts, segment]);
    this.#parts = [];
    this.#size = 0;
    return bytes;
  }
}
