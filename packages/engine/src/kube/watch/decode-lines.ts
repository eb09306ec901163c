import { ApiError } from "../api-error.ts";

// etcd holds objects up to 1.5 MiB; as JSON in a watch event they stay far below this.
const maxLineBytes = 32 * 1024 * 1024;

/** Cuts a byte stream into JSON values, one per line, wherever the network cut it. An unfinished last line is not a value. */
export class JsonLineDecoder {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(limit = maxLineBytes) {
    this.#limit = limit;
  }

  /** Calls `take` for each value completed by this chunk; stops when it returns false. */
  push(chunk: Buffer, take: (value: unknown) => boolean): boolean {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const line = this.#line(chunk.subarray(start, end));
      start = end + 1;
      if (line !== "" && !take(parse(line))) return false;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return true;
  }

  #line(last: Buffer): string {
    const line = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#bytes = 0;
    return line.toString("utf8").trim();
  }

  #keep(rest: Buffer): void {
    this.#bytes += rest.length;
    if (this.#bytes > this.#limit) throw new ApiError("api_bad_answer", `a line of the stream is longer than ${this.#limit} bytes`);
    this.#parts.push(rest);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ApiError("api_bad_answer", "a line of the stream is not JSON");
  }
}
