import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Account, type DeniedAccess, forbidden, isDenied, permits, review } from "./access.ts";
import { type AuditEntry, auditEntry, reviewPath } from "./audit.ts";
import { discovery } from "./discovery.ts";
import { readBody } from "./read-body.ts";
import { type FaultAction, RequestFaults } from "./request-faults.ts";
import { resources } from "./resources.ts";
import { route, type Target, type Verb, verbOf } from "./route.ts";
import { ApiError, badRequest, methodNotAllowed, noSuchPath, unauthorized } from "./status.ts";
import { type Answer, perform } from "./verbs.ts";
import { WatchStream } from "./watch.ts";
import type { World } from "./world.ts";

interface Question {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly target: Target | undefined;
  readonly verb: Verb | undefined;
  readonly body: unknown;
}

// The API server: a real HTTP server that can be taken down and brought up again on its port.
export class ApiServer {
  readonly requests: AuditEntry[] = [];
  readonly faults = new RequestFaults();
  readonly watches = new Set<WatchStream>();
  readonly denied: DeniedAccess[] = [];
  /** By token. */
  readonly accounts = new Map<string, Account>();
  connections = 0;
  expireAs: "event" | "http" = "event";
  onWatch: (stream: WatchStream) => void = () => {};
  readonly #world: World;
  readonly #sockets = new Set<Socket>();
  readonly #busy = new Set<Socket>();
  #server: Server | null = null;
  #port: number;

  constructor(world: World, token: string, port = 0) {
    this.#world = world;
    this.accounts.set(token, { user: "pocket", rules: null });
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
      const account = this.accounts.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
      if (!account) throw unauthorized();
      entry.account = account.user;
      const fault = this.faults.take(entry);
      if (fault && !(await this.#meet(fault, request, entry.watch))) return;
      if (target && verb === "watch") {
        this.#authorize(account, verb, target);
        return this.#watch(target, url, response, entry);
      }
      const answer = this.#answer(account, { request, url, target, verb, body });
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

  #answer(account: Account, { request, url, target, verb, body }: Question): Answer {
    if (url.pathname === reviewPath) {
      if (request.method !== "POST") throw methodNotAllowed();
      return { status: 201, body: review(account, this.denied, body) };
    }
    const known = discovery(url.pathname);
    if (known !== undefined) return { status: 200, body: known };
    if (!target) throw noSuchPath();
    if (!verb) throw methodNotAllowed();
    this.#authorize(account, verb, target);
    const contentType = request.headers["content-type"] ?? "";
    return perform(this.#world, { verb, target, query: url.searchParams, contentType, body });
  }

  #authorize(account: Account, verb: Verb, target: Target): void {
    const asked = { verb, group: resources[target.resource].group, ...target };
    if (!permits(account, asked) || isDenied(this.denied, asked)) throw forbidden(account, verb, target);
  }

  #watch(target: Target, url: URL, response: ServerResponse, entry: AuditEntry): void {
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
