import { withoutTrailing } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "./types.ts";

/** More than any answer that is asked for here. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** For calls with a run's own token: they are repeated, or a run waits for them. */
const RUN_TIMEOUT_MS = 5000;

/** The host refused a call, or did not answer it. */
export class HostError extends Error {
  override readonly name = "HostError";
  /** The HTTP status; null = there was no answer. */
  readonly status: number | null;

  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(forLog(message), options);
    this.status = status;
  }
}

/** One line, without a password in an address. */
const forLog = (text: string): string => text.replace(/(https?:\/\/)[^\s/@]*@/g, "$1").replace(/\s+/g, " ");

/** The only client of the host's HTTP API. Every call has a timeout, and every error names its call. */
export class HostApi {
  /** The host's address, without a path. */
  readonly url: string;
  readonly #token: string | null;
  readonly #timeoutMs: number;
  readonly #pending: Set<Promise<unknown>>;

  /** `pending`: holds the calls that are under way. */
  constructor(url: string, token: string | null, timeoutMs: number, pending = new Set<Promise<unknown>>()) {
    this.#pending = pending;
    this.url = withoutTrailing(url, "/").replace(/\/api$/, "");
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  get(path: string): Promise<unknown> {
    return this.#tracked(this.#send("GET", path));
  }

  post(path: string, body: unknown): Promise<unknown> {
    return this.#tracked(this.#send("POST", path, JSON.stringify(body)));
  }

  #tracked(call: Promise<unknown>): Promise<unknown> {
    this.#pending.add(call);
    const forget = () => this.#pending.delete(call);
    call.then(forget, forget);
    return call;
  }

  async #send(method: string, path: string, body?: string): Promise<unknown> {
    const call = `${method} ${this.url}/api${path}`;
    const headers = {
      ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const signal = AbortSignal.timeout(this.#timeoutMs);
    const { answer, text } = await this.#exchange(`${this.url}/api${path}`, { method, headers, signal, body }).catch((cause: unknown) => {
      throw new HostError(`${call}: ${this.#reason(cause)}`, null, { cause });
    });
    if (!answer.ok) throw new HostError(`${call}: ${refusal(answer.status, text, this.#token)}`, answer.status);
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new HostError(`${call}: the answer is not JSON; is this a Paperclip server?`, answer.status, { cause });
    }
  }

  async #exchange(url: string, request: RequestInit): Promise<{ answer: Response; text: string }> {
    const answer = await fetch(url, request);
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of answer.body ?? []) {
      bytes += piece.length;
      if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      pieces.push(piece);
    }
    return { answer, text: Buffer.concat(pieces).toString("utf8") };
  }

  #reason(error: unknown): string {
    if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${this.#timeoutMs / 1000} s`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? ("code" in cause && String(cause.code)) || cause.message : String(error);
  }
}

type RunWithToken = Pick<ExecutionContext, "authToken">;
const callsOfRuns = new WeakMap<RunWithToken, Set<Promise<unknown>>>();

/** The API with a run's own token, at the address under which this very process reaches it; null = there is no way to ask. */
export function apiOfRun(ctx: RunWithToken, env: NodeJS.ProcessEnv, timeoutMs = RUN_TIMEOUT_MS): HostApi | null {
  const local = env.PAPERCLIP_LISTEN_PORT ? `http://127.0.0.1:${env.PAPERCLIP_LISTEN_PORT}` : null;
  const url = local ?? env.PAPERCLIP_API_URL ?? null;
  if (url === null || ctx.authToken === undefined) return null;
  const calls = callsOfRuns.get(ctx) ?? new Set();
  callsOfRuns.set(ctx, calls);
  return new HostApi(url, ctx.authToken, timeoutMs, calls);
}

/** Resolves when no call with the run's token is under way, also none that nobody waits for any more. */
export async function callsEnded(ctx: RunWithToken): Promise<void> {
  for (const calls = callsOfRuns.get(ctx); calls !== undefined && calls.size > 0; ) await Promise.allSettled(calls);
}

function refusal(status: number, text: string, token: string | null): string {
  if (token === null && (status === 401 || status === 403)) return `HTTP ${status}, a board API key is needed (PAPERCLIP_API_KEY)`;
  if (status === 401) return "HTTP 401, the API key is not accepted";
  const message = text.match(/"error":"((?:[^"\\]|\\.)*)"/)?.[1] ?? text.slice(0, 200);
  return `HTTP ${status} ${message.trim().slice(0, 500)}`.trim();
}
