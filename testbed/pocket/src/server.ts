import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type DeniedAccess, forbidden, isDenied, review } from "./access.ts";
import type { AuditEntry } from "./audit.ts";
import { discovery } from "./discovery.ts";
import { readBody } from "./read-body.ts";
import { type FaultAction, RequestFaults } from "./request-faults.ts";
import { route, type Target, type Verb, verbOf } from "./route.ts";
import { ApiError, badRequest, methodNotAllowed, noSuchPath, unauthorized } from "./status.ts";
import { type Answer, perform } from "./verbs.ts";
import { WatchStream } from "./watch.ts";
import type { World } from "./world.ts";

const reviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

// The API server: a real HTTP server that can be taken down and brought up again on its port.
export class ApiServer {
  readonly requests: AuditEntry[] = [];
  readonly faults = new RequestFaults();
  readonly watches = new Set<WatchStream>();
  readonly denied: DeniedAccess[] = [];
  connections = 0;
  expireAs: "event" | "http" = "event";
  onWatch: (stream: WatchStream) => void = () => {};
  readonly #world: World;
  readonly #token: string;
  readonly #sockets = new Set<Socket>();
  readonly #busy = new Set<Socket>();
  #server: Server | null = null;
  #port: number;

  constructor(world: World, token: string, port = 0) {
    this.#world = world;
    this.#token = token;
    this.#port = port;
  }

  get port(): number {
    return this.#port;
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
    // Bytes that belong to no request (a DELETE body without Content-Length) must not cost the request before them its answer.
    server.on("clientError", (_error, socket) => {
      if (!this.#busy.has(socket as Socket)) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const watch of this.watches) watch.stop();
    this.watches.clear();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://pocket");
    const target = safeRoute(url.pathname);
    const verb = target && verbOf(request.method ?? "GET", target, url.searchParams);
    const entry = auditEntry(request.method ?? "GET", url, target, verb);
    this.requests.push(entry);
    this.#busy.add(request.socket);
    response.on("close", () => this.#busy.delete(request.socket));
    try {
      const body = await readBody(request, entry);
      if (request.headers.authorization !== `Bearer ${this.#token}`) throw unauthorized();
      const fault = this.faults.take(entry);
      if (fault && !(await this.#meet(fault, request, entry.watch))) return;
      if (target && verb === "watch") return this.#watch(target, url, response, entry);
      const answer = this.#answer(request, url, target, verb, body);
      // The write took effect, its answer is lost.
      if (fault?.kind === "drop") request.socket.destroy();
      else send(response, entry, answer);
    } catch (error) {
      send(response, entry, asAnswer(error));
    }
  }

  /** false when the request must not be answered. */
  async #meet(fault: FaultAction, request: IncomingMessage, watch: boolean): Promise<boolean> {
    if (fault.kind === "fail") throw fault.error;
    if (fault.kind === "hang") return false;
    if (fault.kind === "delay") await this.#world.timers.sleep(fault.ms);
    if (fault.kind !== "drop" || (fault.when === "after" && !watch)) return true;
    request.socket.destroy();
    return false;
  }

  #answer(request: IncomingMessage, url: URL, target: Target | undefined, verb: Verb | undefined, body: unknown): Answer {
    if (url.pathname === reviewPath) {
      if (request.method !== "POST") throw methodNotAllowed();
      return { status: 201, body: review(this.denied, body) };
    }
    const known = discovery(url.pathname);
    if (known !== undefined) return { status: 200, body: known };
    if (!target) throw noSuchPath();
    if (!verb) throw methodNotAllowed();
    if (isDenied(this.denied, { verb, ...target })) throw forbidden(verb, target);
    const contentType = request.headers["content-type"] ?? "";
    return perform(this.#world, { verb, target, query: url.searchParams, contentType, body });
  }

  #watch(target: Target, url: URL, response: ServerResponse, entry: AuditEntry): void {
    if (isDenied(this.denied, { verb: "watch", ...target })) throw forbidden("watch", target);
    const query = new URLSearchParams(url.searchParams);
    if (target.name !== undefined) query.append("fieldSelector", `metadata.name=${target.name}`);
    const { resource, namespace } = target;
    const stream = new WatchStream(this.#world, { resource, ...(namespace === undefined ? {} : { namespace }), query }, response, entry);
    this.onWatch(stream);
    stream.start(this.expireAs);
    this.watches.add(stream);
    response.on("close", () => this.watches.delete(stream));
  }
}

function safeRoute(path: string): Target | undefined {
  try {
    return route(path);
  } catch {
    return undefined; // a malformed escape names nothing
  }
}

function auditEntry(method: string, url: URL, target: Target | undefined, verb: Verb | undefined): AuditEntry {
  return {
    at: Date.now(),
    method,
    path: url.pathname,
    verb: verb ?? (url.pathname === reviewPath ? "create" : "other"),
    resource: target?.resource ?? url.pathname.split("/").at(-1) ?? "",
    subresource: target?.subresource ?? null,
    name: target?.name ?? null,
    namespace: target?.namespace ?? null,
    query: Object.fromEntries(url.searchParams),
    watch: verb === "watch",
    status: null,
    bodyBytes: 0,
  };
}

function asAnswer(error: unknown): Answer & { headers?: Readonly<Record<string, string>> } {
  if (error instanceof ApiError) return { status: error.code, body: error.body, headers: error.headers };
  if (error instanceof SyntaxError) return asAnswer(badRequest(`couldn't parse the body: ${error.message}`));
  return asAnswer(new ApiError(500, "InternalError", `Internal error occurred: ${error instanceof Error ? error.stack : String(error)}`));
}

function send(response: ServerResponse, entry: AuditEntry, answer: Answer & { headers?: Readonly<Record<string, string>> }): void {
  if (response.headersSent || response.destroyed) return;
  entry.status = answer.status;
  const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
  const type = typeof answer.body === "string" ? "text/plain" : "application/json";
  const warning = answer.warning ? { warning: `299 - ${JSON.stringify(answer.warning)}` } : {};
  response.writeHead(answer.status, { "content-type": type, "content-length": Buffer.byteLength(text), ...answer.headers, ...warning });
  response.end(text);
}
