import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type AuditEntry, auditEntry, failure, RequestFaults, route, verbOf } from "@paperclip-k8s/pocket/wire";
import { RelayedWatch } from "./relayed-watch.ts";

export interface Upstream {
  readonly url: string;
  readonly ca: string | Buffer;
}

/** Stands between the account and the real API server: counts what passes, and disturbs it on demand. */
export class FaultProxy {
  readonly requests: AuditEntry[] = [];
  readonly faults = new RequestFaults();
  readonly watches = new Set<RelayedWatch>();
  /** Watches of these resources next get the answer that their history is gone. */
  readonly expired = new Map<string, "event" | "http">();
  connections = 0;
  silent = false;
  duplicating = false;
  readonly #upstream: Upstream;
  readonly #agent: Agent;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    this.#agent = new Agent({ keepAlive: true, ca: upstream.ca });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async up(): Promise<void> {
    if (this.#server) return;
    const server = createServer((request, response) => void this.#serve(request, response));
    server.keepAliveTimeout = 0;
    server.requestTimeout = 0;
    server.on("connection", (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async stop(): Promise<void> {
    await this.down();
    this.#agent.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.#upstream.url);
    const method = request.method ?? "GET";
    const target = route(url.pathname);
    const entry = auditEntry(method, url, target, target && verbOf(method, target, url.searchParams));
    this.requests.push(entry);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    entry.bodyBytes = body.length;
    const fault = this.faults.take(entry);
    if (fault?.kind === "hang") return;
    if (fault?.kind === "fail") return answer(response, entry, fault.error.code, fault.error.body, fault.error.headers);
    if (fault?.kind === "delay") await sleep(fault.ms);
    if (fault?.kind === "drop" && (fault.when === "before" || entry.watch)) return void request.socket.destroy();
    if (entry.watch && this.#expire(url, entry, response)) return;
    this.#forward(request, response, { url, method, body, entry, loseAnswer: fault?.kind === "drop" });
  }

  /** The real server itself says that a history is gone: it is asked for one that is. */
  #expire(url: URL, entry: AuditEntry, response: ServerResponse): boolean {
    const as = this.expired.get(entry.resource);
    this.expired.delete(entry.resource);
    if (as === undefined) return false;
    url.searchParams.set("resourceVersion", "1");
    if (as === "http") answer(response, entry, 410, failure(410, { reason: "Expired", message: "too old resource version" }).body);
    return as === "http";
  }

  #forward(request: IncomingMessage, response: ServerResponse, sent: Forwarded): void {
    const { url, method, body, entry } = sent;
    const headers = { ...request.headers, host: url.host, "content-length": String(body.length) };
    const onward = httpsRequest(url, { method, headers, agent: this.#agent });
    onward.on("error", () => request.socket.destroy());
    response.on("close", () => onward.destroy());
    onward.on("response", (incoming) => {
      entry.status = incoming.statusCode ?? null;
      if (sent.loseAnswer) {
        incoming.resume();
        return void request.socket.destroy();
      }
      response.writeHead(incoming.statusCode ?? 502, incoming.headers);
      response.flushHeaders();
      if (entry.watch && incoming.statusCode === 200) return this.#relay(incoming, response);
      incoming.on("error", () => response.destroy());
      incoming.pipe(response);
    });
    onward.end(body);
  }

  #relay(incoming: IncomingMessage, response: ServerResponse): void {
    const watch = new RelayedWatch(incoming, response, () => ({ silent: this.silent, duplicating: this.duplicating }));
    this.watches.add(watch);
    response.on("close", () => this.watches.delete(watch));
  }
}

interface Forwarded {
  readonly url: URL;
  readonly method: string;
  readonly body: Buffer;
  readonly entry: AuditEntry;
  readonly loseAnswer: boolean;
}

function answer(response: ServerResponse, entry: AuditEntry, status: number, body: object, headers: Readonly<Record<string, string>> = {}) {
  entry.status = status;
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...headers });
  response.end(text);
}
