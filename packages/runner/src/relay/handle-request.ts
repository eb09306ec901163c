// Answers one request with the target's answer, trying again only what has certainly not been carried out.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { pipeline } from "node:stream/promises";
import { sleep } from "../limits.ts";
import { type BodyStart, readStart, saysConflict } from "./body.ts";
import { type Connect, ConnectError } from "./connect.ts";
import type { Credentials } from "./credentials.ts";
import { bearerToken, requestHeaders, responseHeaders } from "./headers.ts";
import type { RelayConfig } from "./read-relay.ts";

export interface Relaying {
  readonly config: RelayConfig;
  readonly credentials: Credentials;
  readonly connect: Connect;
  readonly http: typeof import("node:http");
  readonly counts: RelayCounts;
}

/** For the note at the end. */
export interface RelayCounts {
  conflicts: number;
  reconnects: number;
  failures: number;
  lastFailure: string;
}

/** Answered by the relay itself. */
export class Problem extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** One attempt to have a request answered. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: BodyStart;
  /** There is time for another attempt. */
  readonly mayRepeat: boolean;
}

export const MAX_HEAD = 64 * 1024;
const LONGEST_CONNECT_MS = 10_000;
const SHORTEST_CONNECT_MS = 1_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** How often a wait looks for new credentials. */
const LOOK_MS = 100;
/** A longer answer is no conflict. */
const MAX_CONFLICT = 64 * 1024;
/** For a client to finish a body that the target no longer wants: cut at once, it might lose the answer. */
const LINGER_MS = 1_000;

export async function handleRequest(request: IncomingMessage, response: ServerResponse, relaying: Relaying): Promise<void> {
  const { config, credentials, counts } = relaying;
  checkRequest(request);
  const body = await readStart(request, config.maxReplayBytes);
  const giveUpAt = performance.now() + config.retryMs;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const left = giveUpAt - performance.now();
    const before = credentials.current();
    const connectMs = Math.min(LONGEST_CONNECT_MS, Math.max(left, SHORTEST_CONNECT_MS));
    const end = await attempt({ request, response, body, mayRepeat: left > wait }, relaying, connectMs);
    if (end === "answered") return;
    if (end === "conflict") counts.conflicts++;
    else counts.reconnects++;
    // New credentials cut the wait short: they are what a conflict waits for.
    const until = performance.now() + wait * (0.75 + Math.random() / 4);
    while (performance.now() < until && credentials.current() === before && !response.destroyed)
      await sleep(Math.min(LOOK_MS, until - performance.now()));
    if (response.destroyed) return;
  }
}

/** Paths only: with whole URLs the relay would reach more than its target. */
function checkRequest({ url = "", headers, httpVersion }: IncomingMessage): void {
  if (!/^1\.[01]$/.test(httpVersion)) throw new Problem(400, "the request line cannot be read");
  if (!/^\/[\x21-\x7e]*$/.test(url)) throw new Problem(400, "this is no proxy: only a path can be asked for");
  if (httpVersion === "1.1" && !/^\S+$/.test(headers.host ?? "")) throw new Problem(400, "one host header is needed");
}

/** On a connection of its own: a kept one may be closed by the target just as a request is sent. */
async function attempt(exchange: Exchange, relaying: Relaying, connectMs: number): Promise<"answered" | "conflict" | "not-connected"> {
  const { request, response, body, mayRepeat } = exchange;
  const { config, credentials } = relaying;
  const identity = credentials.current();
  const own = credentials.owns(bearerToken(request, config.headers.authorization));
  const socket = await connected(relaying.connect, connectMs, mayRepeat);
  if (socket === null) return "not-connected";
  const cut = (): void => void socket.destroy();
  response.once("close", cut);
  try {
    if (response.destroyed) return "answered";
    const answer = await send(exchange, relaying.http, socket, requestHeaders(request, config, own ? identity : null));
    // Without a token of this run new credentials would change nothing; without the whole body it cannot be sent again.
    const repeatable = mayRepeat && own && body.whole && config.statuses.includes(answer.statusCode ?? 0);
    const start = repeatable ? await readStart(answer, MAX_CONFLICT).catch(lost) : { chunks: [], whole: false };
    if (repeatable && (await saysConflict(answer, start, config.pattern))) return "conflict";
    await passOn(answer, start, exchange);
    return "answered";
  } finally {
    response.off("close", cut);
    socket.destroy();
  }
}

/** Null for a connection that was refused and may be tried again: nothing of the request has been sent yet. */
async function connected(connect: Connect, ms: number, mayRepeat: boolean): Promise<Socket | null> {
  try {
    return await connect(ms);
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    if (error.passing && mayRepeat) return null;
    throw new Problem(502, error.message);
  }
}

function send({ request, body }: Exchange, http: Relaying["http"], socket: Socket, headers: readonly string[]): Promise<IncomingMessage> {
  const { method = "GET", url: path = "/" } = request;
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = http.request({ method, path, headers, maxHeaderSize: MAX_HEAD, createConnection: () => socket }, resolve);
    sent.on("error", reject);
    sent.on("close", () => reject(new Error("closed")));
    for (const chunk of body.chunks) sent.write(chunk);
    if (body.whole) sent.end();
    else request.pipe(sent);
  }).catch(lost);
}

async function passOn(answer: IncomingMessage, start: BodyStart, { request, response }: Exchange): Promise<void> {
  const closing = request.complete ? [] : ["Connection", "close"];
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [...responseHeaders(answer), ...closing]);
  response.flushHeaders();
  try {
    for (const chunk of start.chunks) response.write(chunk);
    if (!start.whole) await pipeline(answer, response, { end: false });
    if (!request.complete) await Promise.race([new Promise((resolve) => request.resume().once("end", resolve)), sleep(LINGER_MS)]);
    response.end();
  } catch {
    // So that half an answer cannot be taken for a whole one.
    request.socket.resetAndDestroy();
  }
}

function lost(error: NodeJS.ErrnoException): never {
  throw new Problem(502, `no answer (${error.code ?? error.message}); the request may have been carried out`);
}
