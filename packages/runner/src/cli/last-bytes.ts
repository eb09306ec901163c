// The last bytes of a stream of any length.

export class LastBytes {
  /** Bytes fed so far. */
  fed = 0;
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #kept = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  feed(chunk: Buffer): void {
    this.fed += chunk.length;
    // Not a view: it would hold all of the chunk that it is a part of.
    const end = Buffer.from(chunk.subarray(-this.#limit));
    this.#chunks.push(end);
    this.#kept += end.length;
    // One is let go when those behind it are enough by themselves.
    for (let first = this.#chunks[0]; first && this.#kept - first.length >= this.#limit; first = this.#chunks[0]) {
      this.#chunks.shift();
      this.#kept -= first.length;
    }
  }

  take(): Buffer {
    return Buffer.concat(this.#chunks).subarray(-this.#limit);
  }
}
