// For tests: a real HTTP server with a little of the API in it, and a hook on the wire for every fault.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect } from "../connection.ts";

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface TestObject {
  metadata: { name: string; uid: string; resourceVersion: string } & Record<string, unknown>;
  [field: string]: unknown;
}

type Hook = (seen: Seen, response: ServerResponse) => boolean | undefined;

export class TestApi {
  readonly seen: Seen[] = [];
  readonly watches = new Set<{ readonly collection: string; readonly response: ServerResponse }>();
  readonly sockets = new Set<Socket>();
  connections = 0;
  /** Answers a request itself and returns true, or leaves it to the server. */
  hook: Hook = () => false;
  /** Watches from below this version answer 410. */
  oldest = 0;
  #version = 100;
  #port = 0;
  #server: Server | null = null;
  readonly #dir = mkdtempSync(join(tmpdir(), "cluster-test-"));
  readonly #objects = new Map<string, Map<string, TestObject>>();
  readonly #history: { collection: string; version: number; line: string }[] = [];
  #connection: Connection | null = null;

  static async start(): Promise<TestApi> {
    const api = new TestApi();
    await api.up();
    return api;
  }

  async up(): Promise<void> {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => this.#server!.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server!.close(resolve));
    this.watches.clear();
  }

  async stop(): Promise<void> {
    this.#connection?.close();
    await this.down();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  kubeconfig(name = "config", user: object = { token: "secret-token-1" }, server = `http://127.0.0.1:${this.#port}`): string {
    const file = join(this.#dir, name);
    writeFileSync(
      file,
      JSON.stringify({
        clusters: [{ name: "c", cluster: { server } }],
        users: [{ name: "u", user }],
        contexts: [{ name: "ctx", context: { cluster: "c", user: "u" } }],
        "current-context": "ctx",
      }),
    );
    return file;
  }

  async connect(): Promise<Connection> {
    this.#connection = await connect({ kubeconfig: this.kubeconfig() });
    return this.#connection;
  }

  put(collection: string, name: string, fields: Record<string, unknown> = {}): TestObject {
    const objects = this.#collection(collection);
    const known = objects.get(name);
    const { metadata, ...rest } = fields;
    const resourceVersion = String(++this.#version);
    const uid = known?.metadata.uid ?? `uid-${this.#version}`;
    const object = { ...known, ...rest, metadata: { ...known?.metadata, ...(metadata as object), name, uid, resourceVersion } };
    objects.set(name, object);
    this.#emit(collection, known ? "MODIFIED" : "ADDED", object);
    return object;
  }

  /** `silently`: as if it happened while nobody watched, and the history no longer holds it. */
  remove(collection: string, name: string, silently = false): void {
    const object = this.#collection(collection).get(name);
    if (!object) return;
    this.#collection(collection).delete(name);
    object.metadata.resourceVersion = String(++this.#version);
    if (!silently) this.#emit(collection, "DELETED", object);
  }

  bookmark(collection: string): number {
    const version = ++this.#version;
    this.send(collection, { type: "BOOKMARK", object: { kind: "Job", metadata: { resourceVersion: String(version) } } });
    return version;
  }

  /** Sends an event, or raw bytes, on all open watches. */
  send(collection: string, event: object | Buffer | string): void {
    const bytes = Buffer.isBuffer(event) || typeof event === "string" ? event : `${JSON.stringify(event)}\n`;
    for (const watch of this.watches) if (watch.collection === collection) watch.response.write(bytes);
  }

  /** Sends the last events again. */
  repeat(collection: string): void {
    for (const event of this.#history.slice(-3)) if (event.collection === collection) this.send(collection, event.line);
  }

  cut(collection: string, clean = false): void {
    for (const watch of [...this.watches]) {
      if (watch.collection !== collection) continue;
      this.watches.delete(watch);
      if (clean) watch.response.end();
      else watch.response.destroy();
    }
  }

  requests(method: string, path?: string): Seen[] {
    return this.seen.filter((seen) => seen.method === method && (path === undefined || seen.path === path));
  }

  lists(path: string): Seen[] {
    return this.requests("GET", path).filter((seen) => !seen.query.has("watch"));
  }

  watchRequests(path: string): Seen[] {
    return this.requests("GET", path).filter((seen) => seen.query.has("watch"));
  }

  async #serve(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, "http://x");
    const seen = {
      method: request.method!,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    this.seen.push(seen);
    if (this.hook(seen, response) === true) return;
    if (seen.query.get("watch") === "true") return this.#watch(seen, response);
    if (seen.method === "GET") return this.#get(seen, response);
    if (seen.method === "POST") return this.#post(seen, response);
    if (seen.method === "DELETE") return this.#delete(seen, response);
    answer(response, 200, this.put(...split(seen.path), {}));
  }

  #get(seen: Seen, response: ServerResponse) {
    const [collection, name] = split(seen.path);
    if (!/\/(jobs|pods|secrets|events)$/.test(seen.path)) {
      const object = this.#collection(collection).get(name);
      return object ? answer(response, 200, object) : answerMissing(response, collection, name);
    }
    const all = [...this.#collection(seen.path).values()].filter(fieldFilter(seen.query.get("fieldSelector")));
    const from = Number(seen.query.get("continue") ?? 0);
    const end = from + Number(seen.query.get("limit") ?? all.length);
    const metadata = { resourceVersion: String(this.#version), ...(end < all.length ? { continue: String(end) } : {}) };
    answer(response, 200, { kind: "List", metadata, items: all.slice(from, end) });
  }

  #watch(seen: Seen, response: ServerResponse) {
    const from = Number(seen.query.get("resourceVersion"));
    if (from < this.oldest) return answerStatus(response, 410, "Expired", "too old resource version");
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const watch = { collection: seen.path, response };
    this.watches.add(watch);
    response.on("close", () => this.watches.delete(watch));
    for (const event of this.#history) if (event.collection === seen.path && event.version > from) response.write(event.line);
  }

  #post(seen: Seen, response: ServerResponse) {
    if (seen.path.endsWith("/selfsubjectaccessreviews")) return answer(response, 201, { status: { allowed: true } });
    const manifest = JSON.parse(seen.body) as TestObject;
    const { name } = manifest.metadata;
    if (this.#collection(seen.path).has(name)) return answerStatus(response, 409, "AlreadyExists", `"${name}" already exists`);
    answer(response, 201, this.put(seen.path, name, manifest));
  }

  #delete(seen: Seen, response: ServerResponse) {
    const [collection, name] = split(seen.path);
    const object = this.#collection(collection).get(name);
    if (!object) return answerMissing(response, collection, name);
    // As the real one does: a body without a length is not read.
    const options = seen.headers["content-length"] ? (JSON.parse(seen.body) as { preconditions?: { uid?: string } }) : {};
    const uid = options.preconditions?.uid;
    if (uid !== undefined && uid !== object.metadata.uid) {
      const message = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid}`;
      return answerStatus(response, 409, "Conflict", message);
    }
    this.remove(collection, name);
    answer(response, 200, { kind: "Status", status: "Success" });
  }

  #collection(path: string): Map<string, TestObject> {
    const objects = this.#objects.get(path) ?? new Map<string, TestObject>();
    this.#objects.set(path, objects);
    return objects;
  }

  #emit(collection: string, type: string, object: TestObject): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    this.#history.push({ collection, version: this.#version, line });
    this.send(collection, line);
  }
}

export function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

function answerMissing(response: ServerResponse, collection: string, name: string): void {
  const details = { kind: collection.split("/").at(-1), name };
  answer(response, 404, { kind: "Status", status: "Failure", code: 404, reason: "NotFound", message: `${name} not found`, details });
}

export function answerStatus(response: ServerResponse, code: number, reason: string, message: string, headers = {}): void {
  answer(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message }, headers);
}

const HANG_MS = 120_000;

/** Waits until a condition holds; facts come over real sockets. */
export async function until(condition: () => boolean, what = condition.toString()): Promise<void> {
  const end = performance.now() + HANG_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not in ${HANG_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function split(path: string): [collection: string, name: string] {
  const at = path.lastIndexOf("/");
  return [path.slice(0, at), path.slice(at + 1)];
}

/** The two selectors that lists of events have. */
function fieldFilter(selector: string | null): (object: TestObject) => boolean {
  const uid = /^involvedObject\.uid=(.+)$/.exec(selector ?? "")?.[1];
  if (uid !== undefined) return ({ involvedObject }) => (involvedObject as { uid?: string } | undefined)?.uid === uid;
  return selector === "type!=Normal" ? ({ type }) => type !== "Normal" : () => true;
}
