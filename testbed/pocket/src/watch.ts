import type { ServerResponse } from "node:http";
import type { AuditEntry } from "./audit.ts";
import type { KubeObject } from "./object.ts";
import { type ResourceName, resources } from "./resources.ts";
import { type Predicate, selectorOf } from "./selectors.ts";
import { badRequest, expired, type StatusBody } from "./status.ts";
import type { StoreEvent } from "./store.ts";
import type { World } from "./world.ts";

// What one client sees of a change: entering the selector is an addition, leaving it a deletion (of the state it last saw).
export function visible(event: StoreEvent, matches: Predicate): { type: string; object: KubeObject } | undefined {
  const before = event.previous !== undefined && matches(event.previous);
  const after = event.type !== "DELETED" && matches(event.object);
  if (event.type === "DELETED") return before ? { type: "DELETED", object: event.object } : undefined;
  if (after) return { type: before ? "MODIFIED" : "ADDED", object: event.object };
  if (!before) return undefined;
  const last = event.previous!;
  return { type: "DELETED", object: { ...last, metadata: { ...last.metadata, resourceVersion: String(event.version) } } };
}

export interface WatchRequest {
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly query: URLSearchParams;
}

// One open watch: the state now or the changes since, then everything that happens, until it ends or is cut.
export class WatchStream {
  readonly entry: AuditEntry;
  /** Set by faults: connected, but nothing is sent. */
  silent = false;
  duplicates = false;
  readonly #world: World;
  readonly #request: WatchRequest;
  readonly #response: ServerResponse;
  readonly #matches: Predicate;
  readonly #undo: (() => void)[] = [];

  constructor(world: World, request: WatchRequest, response: ServerResponse, entry: AuditEntry) {
    this.#world = world;
    this.#request = request;
    this.#response = response;
    this.entry = entry;
    const bySelector = selectorOf(request.query);
    this.#matches = (object) => (request.namespace === undefined || object.metadata.namespace === request.namespace) && bySelector(object);
  }

  start(expireAs: "event" | "http"): void {
    const from = this.#request.query.get("resourceVersion") ?? "";
    const initial = from === "" || from === "0" || this.#request.query.get("sendInitialEvents") === "true";
    if (!initial && !/^\d+$/.test(from)) throw badRequest(`Invalid value: "${from}": strconv.ParseUint: parsing "${from}": invalid syntax`);
    const missed = initial ? [] : this.#world.store.since(Number(from));
    const error = missed === undefined ? expired(`too old resource version: ${from} (${this.#world.store.version})`) : undefined;
    if (error && expireAs === "http") throw error;
    this.#response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
    this.#response.flushHeaders();
    this.entry.status = 200;
    if (error) {
      this.#fail(error.body);
      return;
    }
    if (initial) this.#sendState();
    for (const event of missed ?? []) this.#offer(event);
    this.#undo.push(this.#world.store.subscribe((event) => this.#offer(event)));
    this.#response.on("close", () => this.stop());
    this.#schedule();
  }

  cut(): void {
    this.stop();
    this.#response.socket?.destroy();
  }

  stop(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  #schedule(): void {
    const seconds = Number(this.#request.query.get("timeoutSeconds") ?? 0);
    if (seconds > 0) this.#undo.push(this.#world.timers.after(seconds * 1000, () => this.#end()));
    if (!["1", "true"].includes(this.#request.query.get("allowWatchBookmarks") ?? "")) return;
    const next = (): void => {
      this.#bookmark();
      this.#undo.push(this.#world.timers.after(this.#world.timings.bookmark, next));
    };
    this.#undo.push(this.#world.timers.after(this.#world.timings.bookmark, next));
  }

  #sendState(): void {
    const { resource, namespace, query } = this.#request;
    for (const object of this.#world.store.list(resource, namespace)) if (this.#matches(object)) this.#write("ADDED", object);
    if (query.get("sendInitialEvents") === "true") this.#bookmark({ "k8s.io/initial-events-end": "true" });
  }

  #offer(event: StoreEvent): void {
    if (event.resource !== this.#request.resource) return;
    const seen = visible(event, this.#matches);
    if (seen) this.#write(seen.type, seen.object);
    if (seen && this.duplicates) this.#write(seen.type, seen.object);
  }

  #bookmark(annotations?: Record<string, string>): void {
    const { apiVersion, kind } = resources[this.#request.resource];
    const metadata = {
      resourceVersion: String(this.#world.store.version),
      creationTimestamp: null,
      ...(annotations ? { annotations } : {}),
    };
    this.#write("BOOKMARK", { kind, apiVersion, metadata });
  }

  #write(type: string, object: unknown): void {
    if (!this.silent) this.#response.write(`${JSON.stringify({ type, object })}\n`);
  }

  #fail(status: StatusBody): void {
    this.#write("ERROR", status);
    this.#end();
  }

  #end(): void {
    this.stop();
    // A silenced connection stays open: that is the fault.
    if (!this.silent) this.#response.end();
  }
}
