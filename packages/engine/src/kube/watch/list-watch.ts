import { systemClock } from "../../clock.ts";
import { deferred } from "../../deferred.ts";
import { isolated } from "../../errors.ts";
import { ApiError, isAccessDenied, isBadCertificate, isExpired } from "../api-error.ts";
import type { Connection } from "../connection.ts";
import { eventError } from "../read-answer.ts";
import { backoffMs } from "../send-request.ts";
import { object, text } from "../views.ts";
import { listAll } from "./list.ts";
import { type CacheListener, isNewer, ObjectCache } from "./object-cache.ts";
import { readWatch, type WatchEvent } from "./watch-stream.ts";

export interface ListWatchListener<V> extends CacheListener<V> {
  /** The list or the watch cannot be (re-)established; called once until `back`. A watch that ends in the ordinary way is no loss. */
  lost(error: ApiError): void;
  back(): void;
  /** A complete list is in the cache; `list` is the number it had in `listsStarted` when it started. */
  listed?(list: number): void;
}

export interface ListWatchOptions<V> extends Partial<WatchTimings> {
  readonly connection: Connection;
  readonly path: string;
  readonly labelSelector?: string;
  /** Called at once for each raw object, which is then dropped. */
  readonly project: (raw: unknown) => V;
  /** Name of the Job an object belongs to. */
  readonly jobOf: (view: V) => string;
  readonly listener: ListWatchListener<V>;
}

export type WatchTimings = Readonly<typeof defaults>;

const defaults = {
  clock: systemClock,
  random: Math.random,
  pageSize: 500,
  /** Range of the length of one watch, in seconds. */
  watchSeconds: [280, 340] as readonly [number, number],
  /** Without a byte for this long (bookmarks come every minute) a watch counts as dead. */
  idleMs: 90_000,
  backoff: { minMs: 200, maxMs: 30_000 },
  /** A watch that lived this long was a success: the next one is opened at once. */
  steadyMs: 1_000,
  timeoutMs: 15_000,
};

const staysAway = (error: ApiError | null): error is ApiError => isAccessDenied(error) || isBadCertificate(error);

/** Keeps the cache of one kind of object up to date, by one list and one watch at a time, until it is stopped. */
export class ListWatch<V> {
  /** Resolves with the first complete list; rejects when stopped before. */
  readonly ready: Promise<void>;
  readonly cache: ObjectCache<V>;
  readonly #options: ListWatchOptions<V> & WatchTimings;
  readonly #stop = new AbortController();
  readonly #ready = deferred<void>();
  readonly #onClosed = () => this.stop();
  #version: string | null = null;
  /** How many lists were started so far. */
  listsStarted = 0;
  #lost = false;
  #stale = false;
  #cut = () => {};
  /** How the last try ended: null = a watch was opened, undefined = there was none yet. */
  #lastTry: ApiError | null | undefined;
  #nextTry = deferred<ApiError | null>();
  #pause = new AbortController();

  constructor(options: ListWatchOptions<V>) {
    this.#options = { ...defaults, ...options };
    this.ready = this.#ready.promise;
    this.ready.catch(() => {});
    this.cache = new ObjectCache(options.project, options.jobOf, {
      upsert: (view) => this.#notify(() => options.listener.upsert(view)),
      gone: (view) => this.#notify(() => options.listener.gone(view)),
    });
    options.connection.closed.addEventListener("abort", this.#onClosed, { once: true });
    void this.#run();
  }

  /** Takes one more list, started from now on, before it goes on watching. */
  relist(): void {
    this.#stale = true;
    this.#cut();
  }

  /**
   * The error if the account may not list or watch, or the server's certificate is not accepted, after one more try if that was so the last time.
   * Null otherwise: there is a watch, or a problem that may pass. Who comes first waits for the first try.
   */
  async accessError(): Promise<ApiError | null> {
    if (this.#lastTry !== undefined && !staysAway(this.#lastTry)) return null;
    const next = this.#nextTry.promise;
    this.#pause.abort();
    const error = await next;
    return staysAway(error) ? error : null;
  }

  stop(): void {
    this.#options.connection.closed.removeEventListener("abort", this.#onClosed);
    this.#stop.abort();
    this.#ready.reject(new Error("the watch was stopped"));
    this.#tried(null);
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      const end = await this.#cycle();
      failures = end === "lasted" ? 0 : failures + 1;
      if (failures === 0) continue;
      // A server or proxy that cuts every watch soon, but opens new ones, is asked again within seconds: nothing is seen in the gap.
      if (end === "short") failures = Math.min(failures, 4);
      const { backoff, random, clock } = this.#options;
      const asked = Math.min((end instanceof ApiError ? (end.retryAfterSec ?? 0) : 0) * 1000, 60_000);
      this.#pause = new AbortController();
      const either = AbortSignal.any([this.#stop.signal, this.#pause.signal]);
      await clock.sleep(Math.max(asked, backoffMs(backoff, failures, random)), either, false);
    }
  }

  /** One list if needed, then one watch. Returns how it ended; an error means that there was no watch, or no use in resuming it. */
  async #cycle(): Promise<"lasted" | "short" | ApiError> {
    let opened: number | null = null;
    try {
      if (this.#stale) this.#version = null;
      this.#stale = false;
      this.#version ??= await this.#list();
      const stream = await this.#open(this.#version);
      opened = this.#options.clock.now();
      this.#connected();
      this.#tried(null);
      this.#cut = () => stream.destroy();
      if (this.#stale) this.#cut();
      let failure: ApiError | null = null;
      let events = 0;
      await readWatch(stream, this.#options.idleMs, this.#options.clock, (event) => {
        this.#options.connection.health.heard();
        failure = this.#take(event);
        if (failure === null) events++;
        return failure === null && !this.#stop.signal.aborted;
      });
      if (failure) throw failure;
      return events > 0 || this.#lasted(opened) ? "lasted" : "short";
    } catch (cause) {
      const error = cause instanceof ApiError ? cause : new ApiError("api_unreachable", String(cause), { cause });
      if (this.#stop.signal.aborted) return error;
      // Expired, another error event, or a line that is no JSON: the resume point is unknown, so list again.
      if (opened !== null || isExpired(error)) this.#version = null;
      else this.#disconnected(error);
      if (opened === null) this.#tried(error);
      return opened !== null && this.#lasted(opened) ? "lasted" : error;
    }
  }

  #tried(result: ApiError | null): void {
    this.#lastTry = result;
    this.#nextTry.resolve(result);
    this.#nextTry = deferred();
  }

  #lasted(opened: number): boolean {
    return this.#options.clock.now() - opened >= this.#options.steadyMs;
  }

  async #list(): Promise<string> {
    const { connection, path, labelSelector, pageSize, timeoutMs } = this.#options;
    let list = ++this.listsStarted;
    const onRestart = () => {
      list = ++this.listsStarted;
    };
    const request = { path, labelSelector, pageSize, timeoutMs, signal: this.#stop.signal, background: true, onRestart };
    // Retries are this loop's own: it also reports when the connection is lost.
    const { resourceVersion } = await listAll(connection, request, (raw) => this.cache.listed(raw, list), { attempts: 1 });
    this.cache.sweep(list);
    this.#notify(() => this.#options.listener.listed?.(list));
    this.#ready.resolve();
    return resourceVersion;
  }

  #open(version: string) {
    const { connection, path, labelSelector, watchSeconds, random, timeoutMs } = this.#options;
    const timeoutSeconds = Math.round(watchSeconds[0] + random() * (watchSeconds[1] - watchSeconds[0]));
    const query = { watch: true, allowWatchBookmarks: true, resourceVersion: version, timeoutSeconds, labelSelector };
    return connection.openStream({ method: "GET", path, query, timeoutMs }, this.#stop.signal);
  }

  /** Applies one event; returns the error of an ERROR event. */
  #take(event: WatchEvent): ApiError | null {
    if (event.type === "ERROR") return eventError(`watch ${this.#options.path}`, event.object);
    if (event.type === "ADDED" || event.type === "MODIFIED") this.cache.changed(event.object, this.listsStarted);
    else if (event.type === "DELETED") this.cache.deleted(event.object);
    // Bookmarks have a version but no uid.
    const version = text(object(object(event.object).metadata).resourceVersion);
    // A repeated old event must not move the resume point back.
    if (version && (this.#version === null || isNewer(version, this.#version))) this.#version = version;
    return null;
  }

  #connected(): void {
    if (!this.#lost) return;
    this.#lost = false;
    this.#notify(() => this.#options.listener.back());
  }

  #disconnected(error: ApiError): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#notify(() => this.#options.listener.lost(error));
  }

  #notify(callback: () => void): void {
    if (!this.#stop.signal.aborted) isolated(callback);
  }
}
