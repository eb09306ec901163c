// The head of an HTTP/1.1 message: its first line and its headers, taken apart and put together again.
import type { Wire } from "./wire.ts";

export interface Head {
  readonly first: string;
  readonly headers: readonly Header[];
}

export type Header = readonly [name: string, value: string];

/** Something that is answered by the relay itself. */
export class Problem extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

const MAX_HEAD = 64 * 1024;
const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\0\r\n]*?)[ \t]*$/;
/** About one connection and not about the message; `expect` is dealt with by whoever reads the body first. */
const PER_CONNECTION = ["connection", "keep-alive", "proxy-connection", "upgrade", "expect", "te"];

/** Null when the other side ends before the first byte. */
export async function readHead(wire: Wire): Promise<Head | null> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const chunk = await wire.read();
    if (chunk === null && bytes.length === 0) return null;
    if (chunk === null) throw new Problem(400, "the message ends within its head");
    bytes = skipBlankLines(Buffer.concat([bytes, chunk]));
    const end = bytes.indexOf("\r\n\r\n");
    if (end > MAX_HEAD || (end < 0 && bytes.length > MAX_HEAD)) throw new Problem(431, `the headers are longer than ${MAX_HEAD} bytes`);
    if (end < 0) continue;
    wire.unread(bytes.subarray(end + 4));
    return parseHead(bytes.toString("latin1", 0, end));
  }
}

/** Allowed before a message: some clients send one after a body. */
function skipBlankLines(bytes: Buffer): Buffer<ArrayBuffer> {
  let at = 0;
  while (bytes[at] === 13 && bytes[at + 1] === 10) at += 2;
  return bytes.subarray(at) as Buffer<ArrayBuffer>;
}

function parseHead(text: string): Head {
  const [first = "", ...lines] = text.split("\r\n");
  const headers = lines.map((line): Header => {
    const match = HEADER.exec(line);
    if (!match) throw new Problem(400, "a header cannot be read");
    return [match[1] ?? "", match[2] ?? ""];
  });
  return { first, headers };
}

export const formatHead = (head: Head): Buffer =>
  Buffer.from(`${[head.first, ...head.headers.map(([name, value]) => `${name}: ${value}`)].join("\r\n")}\r\n\r\n`, "latin1");

export const valuesOf = (head: Head, name: string): string[] =>
  head.headers.filter(([other]) => other.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

/** The words of a header that is a list. */
export const wordsOf = (head: Head, name: string): string[] =>
  valuesOf(head, name)
    .flatMap((value) => value.split(","))
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== "");

/** What is passed on: framing (`transfer-encoding`) stays, as the body is passed byte by byte. */
export function withoutConnection(head: Head): readonly Header[] {
  const named = wordsOf(head, "connection").filter((name) => name !== "transfer-encoding" && name !== "content-length");
  return without(head.headers, [...PER_CONNECTION, ...named]);
}

export const without = (headers: readonly Header[], names: readonly string[]): readonly Header[] =>
  headers.filter(([name]) => !names.some((other) => other.toLowerCase() === name.toLowerCase()));
