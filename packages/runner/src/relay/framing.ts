// Where the body of an HTTP/1.1 message ends; its bytes, chunk sizes and trailers included, are passed on as they are.
import { type Head, Problem, valuesOf, wordsOf } from "./head.ts";
import type { Wire } from "./wire.ts";

export type Framing = { readonly kind: "length"; readonly bytes: number } | { readonly kind: "chunked" } | { readonly kind: "until-close" };

const NO_BODY: Framing = { kind: "length", bytes: 0 };
const MAX_LINE = 16 * 1024;

export function requestFraming(head: Head): Framing {
  const codings = wordsOf(head, "transfer-encoding");
  const length = contentLength(head);
  if (codings.length === 0) return length === null ? NO_BODY : { kind: "length", bytes: length };
  if (length !== null || codings.join() !== "chunked") throw new Problem(400, "the body's length is not clear");
  return { kind: "chunked" };
}

export function responseFraming(head: Head, status: number, method: string): Framing {
  if (method === "HEAD" || status === 204 || status === 304) return NO_BODY;
  if (wordsOf(head, "transfer-encoding").at(-1) === "chunked") return { kind: "chunked" };
  const length = contentLength(head);
  return length === null ? { kind: "until-close" } : { kind: "length", bytes: length };
}

function contentLength(head: Head): number | null {
  const values = [...new Set(valuesOf(head, "content-length"))];
  if (values.length === 0) return null;
  const [value = ""] = values;
  if (values.length > 1 || !/^\d{1,15}$/.test(value)) throw new Problem(400, "the body's length is not clear");
  return Number(value);
}

/** Reads one body off a wire and leaves there what follows it. */
export class Body {
  done: boolean;
  readonly #wire: Wire;
  readonly #framing: Framing;
  #left: number;
  #state: "size" | "data" | "data-end" | "trailer" = "size";
  #line = "";

  constructor(wire: Wire, framing: Framing) {
    this.#wire = wire;
    this.#framing = framing;
    this.#left = framing.kind === "length" ? framing.bytes : 0;
    this.done = framing.kind === "length" && framing.bytes === 0;
  }

  /** The next bytes as they came; null when there are no more. Throws when the body breaks off. */
  async read(): Promise<Buffer | null> {
    if (this.done) return null;
    const chunk = await this.#wire.read();
    if (chunk === null) {
      if (this.#framing.kind !== "until-close") throw new Error("the body breaks off");
      this.done = true;
      return null;
    }
    const used = this.#framing.kind === "until-close" ? chunk.length : this.#scan(chunk);
    this.#wire.unread(chunk.subarray(used));
    return chunk.subarray(0, used);
  }

  /** All of a short body, or the beginning of a longer one. */
  async readSome(maxBytes: number): Promise<Buffer[]> {
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes <= maxBytes; ) {
      const chunk = await this.read();
      if (chunk === null) break;
      chunks.push(chunk);
      bytes += chunk.length;
    }
    return chunks;
  }

  #scan(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && !this.done) {
      if (this.#framing.kind === "length" || this.#state === "data") at += this.#skip(chunk.length - at);
      else at = this.#lines(chunk, at);
    }
    return at;
  }

  #skip(available: number): number {
    const used = Math.min(this.#left, available);
    this.#left -= used;
    if (this.#left > 0) return used;
    if (this.#framing.kind === "length") this.done = true;
    else this.#state = "data-end";
    return used;
  }

  #lines(chunk: Buffer, from: number): number {
    const newline = chunk.indexOf(10, from);
    const to = newline < 0 ? chunk.length : newline + 1;
    this.#line += chunk.toString("latin1", from, to);
    if (this.#line.length > MAX_LINE) throw new Problem(400, "the body's chunks cannot be read");
    if (newline >= 0) {
      this.#take(this.#line.replace(/\r?\n$/, ""));
      this.#line = "";
    }
    return to;
  }

  #take(line: string): void {
    if (this.#state === "trailer") this.done = line === "";
    else if (this.#state === "data-end" && line === "") this.#state = "size";
    else {
      const size = this.#state === "size" ? /^([\da-f]{1,13})[ \t]*(;.*)?$/i.exec(line)?.[1] : undefined;
      if (size === undefined) throw new Problem(400, "the body's chunks cannot be read");
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left > 0 ? "data" : "trailer";
    }
  }
}
