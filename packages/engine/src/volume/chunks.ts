const encoder = new TextEncoder();

/** Turns bytes into text chunks of whole lines; a line longer than a chunk is cut between two characters, with nothing added. */
export class TextChunks {
  readonly #limit: number;
  // A byte order mark is output like any other.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";

  /** `limit`: bytes of UTF-8 per chunk. */
  constructor(options: { readonly limit?: number } = {}) {
    this.#limit = options.limit ?? 8 * 1024;
  }

  push(bytes: Uint8Array): string[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    return this.#cut();
  }

  /** The end of the output: what has no newline is given too. */
  flush(): string[] {
    this.#rest += this.#decoder.decode();
    const chunks = this.#cut();
    if (this.#rest !== "") chunks.push(this.#rest);
    this.#rest = "";
    return chunks;
  }

  #cut(): string[] {
    const text = this.#rest;
    const chunks: string[] = [];
    let from = 0;
    while (from < text.length) {
      const to = this.#endOfLines(text, from) ?? this.#endOfPiece(text, from);
      if (to === null) break;
      chunks.push(text.slice(from, to));
      from = to;
    }
    this.#rest = text.slice(from);
    return chunks;
  }

  // As many whole lines as fit into one chunk.
  #endOfLines(text: string, from: number): number | null {
    let end = from;
    let size = 0;
    for (let at = text.indexOf("\n", from); at !== -1; at = text.indexOf("\n", end)) {
      size += at + 1 - end > this.#limit ? Number.POSITIVE_INFINITY : Buffer.byteLength(text.slice(end, at + 1));
      if (size > this.#limit) break;
      end = at + 1;
    }
    return end === from ? null : end;
  }

  // A line that does not fit; `encodeInto` stops between two characters.
  #endOfPiece(text: string, from: number): number | null {
    const start = text.slice(from, from + this.#limit + 1);
    if (Buffer.byteLength(start) <= this.#limit) return null;
    return from + encoder.encodeInto(start, new Uint8Array(this.#limit)).read;
  }
}
