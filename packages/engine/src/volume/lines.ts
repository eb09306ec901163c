const newline = 0x0a;

export interface Line {
  /** Includes the newline; a piece of an over-long line does not, unless it is the last. */
  readonly bytes: Buffer;
  /** `piece`s are followed by more of the same line, `last-piece` ends it. */
  readonly part: "whole" | "piece" | "last-piece";
}

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
    let from = 0;
    while (from < bytes.length) {
      const at = bytes.indexOf(newline, from);
      const to = Math.min(at === -1 ? bytes.length : at + 1, from + this.#maxLine - this.#size);
      const ended = to === at + 1;
      const segment = bytes.subarray(from, to);
      from = to;
      if (ended) lines.push(this.#end(segment));
      else if (this.#size + segment.length >= this.#maxLine) lines.push(this.#cut(segment));
      else this.#keep(segment);
    }
    return lines;
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

  #end(segment: Buffer): Line {
    const part = this.#inPieces ? "last-piece" : "whole";
    this.#inPieces = false;
    return { bytes: this.#take(segment), part };
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
