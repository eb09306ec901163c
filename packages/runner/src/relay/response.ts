// The target's answer: read its head, pass it on to the client as it comes.
import { Body, responseFraming } from "./framing.ts";
import { formatHead, type Head, type Header, Problem, readHead, withoutConnection } from "./head.ts";
import type { Request } from "./read-request.ts";
import type { Wire } from "./wire.ts";

export interface Response {
  readonly head: Head;
  readonly status: number;
  readonly body: Body;
  /** The end of the connection is the end of the body. */
  readonly untilClose: boolean;
}

/** The relay itself has asked for the body, so interim answers are of no use to the client. */
export async function readResponse(upstream: Wire, method: string): Promise<Response> {
  try {
    for (;;) {
      const head = await readHead(upstream);
      if (!head) throw new Error("closed");
      const [, code = "", reason = ""] = /^HTTP\/1\.[01] ([1-5]\d\d)(?: (.*))?$/.exec(head.first) ?? [];
      if (code === "" || code === "101") throw new Error("not HTTP");
      if (code.startsWith("1")) continue;
      const framing = responseFraming(head, Number(code), method);
      const first = `HTTP/1.1 ${code} ${reason}`;
      return {
        head: { ...head, first },
        status: Number(code),
        body: new Body(upstream, framing),
        untilClose: framing.kind === "until-close",
      };
    }
  } catch (error) {
    throw lost(error);
  }
}

/** The beginning of the body, or all of it. */
export async function peek(response: Response, maxBytes: number): Promise<Buffer[]> {
  try {
    return await response.body.readSome(maxBytes);
  } catch (error) {
    throw lost(error);
  }
}

function lost(error: unknown): Problem {
  const { code, message } = error as NodeJS.ErrnoException;
  return new Problem(502, `no answer (${code ?? message}); the request may have been carried out`);
}

/** True when the client can send its next request on the same connection. */
export async function passOn(response: Response, seen: readonly Buffer[], request: Request, client: Wire): Promise<boolean> {
  const { head, body } = response;
  const keepAlive = request.keepAlive && request.rest.done && !response.untilClose;
  const closing: readonly Header[] = keepAlive ? [] : [["Connection", "close"]];
  try {
    await client.write(Buffer.concat([formatHead({ ...head, headers: [...withoutConnection(head), ...closing] }), ...seen]));
    for (let chunk = await body.read(); chunk; chunk = await body.read()) await client.write(chunk);
    return keepAlive;
  } catch {
    client.reset();
    return false;
  }
}
