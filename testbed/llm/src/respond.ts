import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "./script.ts";

/** A reply that is sent as an answer rather than as a fault. */
export type Answer = Extract<Reply, { kind: "text" | "tool" }>;

/** Everything a wire format needs to send one answer. */
export interface Turn {
  readonly response: ServerResponse;
  readonly answer: Answer;
  readonly model: string;
  readonly stream: boolean;
  readonly id: number;
  readonly signal: AbortSignal;
}

/** How many times the usual tokens the answer reports. */
export const weightOf = ({ answer }: Turn): number => (answer.kind === "tool" ? (answer.weight ?? 1) : 1);

/** An id for each of the calls that an answer makes at once. */
export const idsOf = (id: string, { times = 1 }: Extract<Answer, { kind: "tool" }>): string[] =>
  Array.from({ length: times }, (_, index) => (index === 0 ? id : `${id}_${index}`));

export const isSilent = ({ answer }: Turn): boolean => answer.kind === "text" && answer.text === "";

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}

/** Waits before an answer that has no pieces to spread over the time. */
export async function pause({ answer, signal }: Turn): Promise<void> {
  if (answer.seconds) await sleep(answer.seconds * 1000, undefined, { signal });
}

/** The text in small pieces, spread over the time the script asks for, so that a slow answer still trickles. */
export async function* pieces(text: string, { answer, signal }: Turn): AsyncGenerator<string> {
  const all = text.match(/.{1,8}/gsu) ?? [];
  for (const [index, piece] of all.entries()) {
    if (answer.kind === "text" && answer.end === "broken-off" && index * 2 >= all.length) throw new Error("the script breaks off here");
    if (answer.seconds) await sleep((answer.seconds * 1000) / all.length, undefined, { signal });
    yield piece;
  }
}
