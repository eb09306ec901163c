import type { ClientRequest, IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { ApiError } from "./api-error.ts";
import type { Priority } from "./pace.ts";

/** Node's module for the server's scheme. */
export type HttpProtocol = typeof import("node:http") | typeof import("node:https");

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
  /** Of the body; `application/json` unless set. */
  readonly contentType?: string;
  /** What the answer may be; `application/json` unless set. */
  readonly accept?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** A mutation that may be sent twice without harm, so that a lost answer can be retried. */
  readonly idempotent?: boolean;
  /** Does not keep the process alive while it waits. */
  readonly background?: boolean;
  /** Where many requests wait; deletes come first unless set. */
  readonly priority?: Priority;
}

export interface ApiResponse<T> {
  readonly status: number;
  readonly body: T;
  /** Texts of its Warning headers. */
  readonly warnings: readonly string[];
}

export const isMutation = (req: ApiRequest): boolean => req.method !== "GET";
export const labelOf = (req: ApiRequest): string => `${req.method} ${req.path}`;

/** One try of one request: knows whether anything can have reached the server, which decides what may be repeated. */
export class Exchange {
  readonly #req: ApiRequest;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outside: readonly AbortSignal[];
  readonly #onAbort = () => this.#stop.abort();
  #sent = false;
  timedOut = false;

  constructor(req: ApiRequest, timeoutMs: number, outside: readonly AbortSignal[]) {
    this.#req = req;
    this.#outside = outside;
    this.#timer = setTimeout(() => {
      this.timedOut = true;
      this.#stop.abort();
    }, timeoutMs);
    this.#timer.unref();
    for (const signal of outside) {
      if (signal.aborted) this.#stop.abort();
      else signal.addEventListener("abort", this.#onAbort, { once: true });
    }
  }

  /** Waits for something that takes no signal, such as an exec plugin, no longer than this try may take. */
  within<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this.#stop;
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    });
  }

  /** Sends the request; resolves when the answer's headers are there. */
  open(protocol: HttpProtocol, base: URL, options: RequestOptions): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      if (this.#stop.signal.aborted) return reject(this.#stop.signal.reason);
      const body = this.#req.body === undefined ? null : Buffer.from(JSON.stringify(this.#req.body));
      const request = protocol.request(urlOf(base, this.#req), {
        ...options,
        method: this.#req.method,
        headers: { ...options.headers, ...headersOf(this.#req, body) },
        signal: this.#stop.signal,
      });
      request.on("response", resolve);
      request.on("error", reject);
      this.#follow(request);
      request.end(body ?? undefined);
    });
  }

  /** The timer only limits the time until the answer starts, not how long a stream lasts. */
  clearTimeout(): void {
    clearTimeout(this.#timer);
  }

  /** Forgets the outside signals, which live longer than a request. */
  finish(): void {
    this.clearTimeout();
    for (const signal of this.#outside) signal.removeEventListener("abort", this.#onAbort);
  }

  /** The error of this try as the caller gets it. */
  failure(error: unknown): unknown {
    this.finish();
    if (error instanceof ApiError) return error;
    if (this.#req.signal?.aborted) return this.#req.signal.reason;
    const label = labelOf(this.#req);
    const maybeApplied = isMutation(this.#req) && this.#sent;
    if (this.timedOut) return new ApiError("api_timeout", `${label}: no answer in time`, { maybeApplied });
    if (this.#stop.signal.aborted) return new ApiError("api_unreachable", `${label}: the connection was closed`, { maybeApplied });
    const cause = error as NodeJS.ErrnoException;
    const systemCode = typeof cause?.code === "string" ? cause.code : null;
    return new ApiError("api_unreachable", `${label}: ${cause?.message || systemCode || "connection failed"}`, {
      maybeApplied,
      systemCode,
      cause: error,
    });
  }

  #follow(request: ClientRequest): void {
    const sent = () => {
      this.#sent = true;
    };
    request.on("socket", (socket: Socket | TLSSocket) => {
      if (this.#req.background) socket.unref();
      // Node writes the request as soon as the connection (and its TLS) is established, not before.
      const secure = "encrypted" in socket;
      if (socket.connecting || (secure && (socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting)) {
        socket.once(secure ? "secureConnect" : "connect", sent);
      } else sent();
    });
  }
}

function headersOf(req: ApiRequest, body: Buffer | null): Record<string, string> {
  const accept = req.accept ?? "application/json";
  if (body === null) return { accept };
  return {
    accept,
    "content-type": req.contentType ?? "application/json",
    // Node sends a DELETE's body without a length: the API server then ignores it, preconditions included, and deletes.
    "content-length": String(body.byteLength),
  };
}

function urlOf(base: URL, req: ApiRequest): URL {
  const url = new URL(base);
  // A server behind a path (`https://host/k8s/clusters/c-1`) keeps it.
  url.pathname = base.pathname.replace(/\/$/, "") + req.path;
  for (const [name, value] of Object.entries(req.query ?? {})) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  }
  return url;
}
