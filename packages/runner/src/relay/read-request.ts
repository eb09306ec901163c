// Takes one request off a connection: what it asks for, and its body as far as it is kept for a second attempt.
import { Body, requestFraming } from "./framing.ts";
import { type Head, Problem, readHead, valuesOf, wordsOf } from "./head.ts";
import type { Wire } from "./wire.ts";

export interface Request {
  readonly head: Head;
  readonly method: string;
  readonly keepAlive: boolean;
  /** The body as far as it was read. */
  readonly kept: readonly Buffer[];
  /** All of the body is kept: the request can be sent again. */
  readonly whole: boolean;
  readonly rest: Body;
}

const FIRST_LINE = /^([!#$%&'*+.^_`|~\w-]+) ([\x21-\x7e]+) HTTP\/1\.([01])$/;
const CONTINUE = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n");

/** Null when the client has no more requests. */
export async function readRequest(client: Wire, maxKept: number): Promise<Request | null> {
  const head = await readHead(client);
  if (!head) return null;
  const { method, minor } = firstLine(head);
  const framing = requestFraming(head);
  if (minor === "1" && wordsOf(head, "expect").includes("100-continue")) await client.write(CONTINUE);
  const rest = new Body(client, framing);
  // What is known to be too large is not held up.
  const kept = framing.kind === "length" && framing.bytes > maxKept ? [] : await rest.readSome(maxKept);
  return { head, method, keepAlive: minor === "1" && !wordsOf(head, "connection").includes("close"), kept, whole: rest.done, rest };
}

/** Paths only: with whole URLs or tunnels the relay would reach more than its target. */
function firstLine(head: Head): { method: string; minor: string } {
  const [, method = "", path = "", minor = ""] = FIRST_LINE.exec(head.first) ?? [];
  if (method === "") throw new Problem(400, "the request line cannot be read");
  if (method === "CONNECT") throw new Problem(405, "this is no proxy: CONNECT is refused");
  if (!path.startsWith("/")) throw new Problem(400, "this is no proxy: only a path can be asked for");
  if (minor === "1" && valuesOf(head, "host").length !== 1) throw new Problem(400, "one host header is needed");
  return { method, minor };
}
