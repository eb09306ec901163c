import { systemClock } from "../../clock.ts";
import { isolated } from "../../errors.ts";
import { ApiError, problemText } from "../api-error.ts";
import type { Connection } from "../connection.ts";
import { paths } from "../paths.ts";
import { type ClusterFact, type JobView, type PodView, projectJob, projectPod } from "../views.ts";
import { ListWatch, type ListWatchListener, type WatchTimings } from "./list-watch.ts";
import { Subscriber, type Subscription } from "./subscription.ts";

export interface RunWatchOptions extends Partial<WatchTimings> {
  /** How long the watches outlive the last subscriber. */
  readonly lingerMs?: number;
  /** A Job that exists but was not seen for this long is looked for by a list. */
  readonly unseenMs?: number;
}

const shared = new WeakMap<Connection, Map<string, RunWatch>>();

/** The watch for all runs of a namespace and selector; options count for the first who asks. */
export function runWatch(connection: Connection, namespace: string, selector: string, options: RunWatchOptions = {}): RunWatch {
  const watches = shared.get(connection) ?? new Map<string, RunWatch>();
  shared.set(connection, watches);
  const key = `${namespace}\n${selector}`;
  const watch = watches.get(key) ?? new RunWatch(connection, namespace, selector, options);
  watches.set(key, watch);
  return watch;
}

/** What can be disconnected by itself: either watch, or the API server as a whole. */
type Source = "jobs" | "pods" | "server";
type ApiLost = Extract<ClusterFact, { kind: "api-lost" }>;

interface Active {
  readonly jobs: ListWatch<JobView>;
  readonly pods: ListWatch<PodView>;
  readonly lost: Map<Source, ApiLost>;
  readonly ready: Promise<void>;
  readonly stopListening: () => void;
}

/** One list-watch of Jobs and one of Pods for any number of runs: at work from the first subscriber until some time after the last. */
export class RunWatch {
  readonly #connection: Connection;
  readonly #namespace: string;
  readonly #selector: string;
  readonly #options: RunWatchOptions;
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  #active: Active | null = null;
  #cancelLinger = () => {};

  constructor(connection: Connection, namespace: string, selector: string, options: RunWatchOptions = {}) {
    this.#connection = connection;
    this.#namespace = namespace;
    this.#selector = selector;
    this.#options = options;
  }

  /** Both lists were complete once since the watch started; creating a Job need not wait for it. */
  get ready(): Promise<void> {
    return this.#active?.ready ?? notStarted();
  }

  /** All Jobs were listed once since the watch started: from then on `jobs` is true. */
  get listed(): Promise<void> {
    return this.#active?.jobs.ready ?? notStarted();
  }

  jobs(): readonly JobView[] {
    return this.#active?.jobs.cache.all() ?? [];
  }

  /** The newest Job of that name; null = none is seen. */
  jobNamed(name: string): JobView | null {
    return this.#active?.jobs.cache.ofJob(name).at(-1) ?? null;
  }

  /** The pods of this Job that are seen. */
  podsOf({ name, uid }: Pick<JobView, "name" | "uid">): readonly PodView[] {
    return this.#active?.pods.cache.ofJob(name).filter(({ jobUid }) => jobUid === uid) ?? [];
  }

  /** What is seen of one Job: its newest view; `gone`: it was here and is not any more; null = nothing. */
  job(uid: string): JobView | "gone" | null {
    const cache = this.#active?.jobs.cache;
    return cache?.get(uid) ?? (cache?.wasDeleted(uid) ? "gone" : null);
  }

  /** The error if the account may not list or watch Jobs or pods. The first subscriber waits for the first try, later ones do not wait. */
  async accessError(): Promise<ApiError | null> {
    const active = this.#active;
    if (active === null) return null;
    const errors = await Promise.all([active.jobs.accessError(), active.pods.accessError()]);
    return errors.find((error) => error !== null) ?? null;
  }

  /**
   * Reports what is known about the Job name before it returns, then every change.
   * With the `uid` of a Job known to exist, only that Job and its pods count; when a complete list that starts later does not hold it, it is gone.
   */
  subscribe(jobName: string, listener: (fact: ClusterFact) => void, uid?: string): Subscription {
    const active = this.#start();
    let open = true;
    const subscriber = new Subscriber(jobName, uid ?? null, active.jobs.listsStarted, (fact) => {
      if (open) isolated(() => listener(fact));
    });
    const peers = this.#subscribers.get(jobName) ?? new Set();
    this.#subscribers.set(jobName, peers.add(subscriber));
    subscriber.catchUp(active.jobs.cache, active.pods.cache);
    const [lost] = active.lost.values();
    if (lost) subscriber.notify(lost);
    this.#lookFor(subscriber, active);
    return {
      close: () => {
        if (open) this.#leave(subscriber);
        open = false;
      },
    };
  }

  /** Ends the watches at once, subscribers or not. */
  close(): void {
    this.#cancelLinger();
    this.#active?.stopListening();
    this.#active?.jobs.stop();
    this.#active?.pods.stop();
    this.#active = null;
    this.#subscribers.clear();
  }

  #start(): Active {
    this.#cancelLinger();
    if (this.#active) return this.#active;
    const lost: Active["lost"] = new Map();
    const jobs: ListWatch<JobView> = this.#listWatch(paths.jobs, projectJob, ({ name }) => name, {
      upsert: (job) => this.#of(job.name).forEach((subscriber) => void subscriber.job(job)),
      gone: (job) => this.#of(job.name).forEach((subscriber) => void subscriber.jobGone(job.uid)),
      listed: (list) => this.#all().forEach((subscriber) => void subscriber.listed(list, jobs.cache)),
      ...this.#connectivity("jobs", lost),
    });
    const pods = this.#listWatch(paths.pods, projectPod, ({ jobName }) => jobName, {
      upsert: (pod) => this.#of(pod.jobName).forEach((subscriber) => void subscriber.pod(pod)),
      gone: (pod) => this.#of(pod.jobName).forEach((subscriber) => void subscriber.podGone(pod)),
      ...this.#connectivity("pods", lost),
    });
    const ready = Promise.all([jobs.ready, pods.ready]).then(() => {});
    ready.catch(() => {});
    const server = this.#connectivity("server", lost);
    const stopListening = this.#connection.health.listen((since) => (since === null ? server.back() : server.lost(silence(since))));
    this.#active = { jobs, pods, lost, ready, stopListening };
    return this.#active;
  }

  #listWatch<V>(
    path: (namespace: string) => string,
    project: (raw: unknown) => V,
    jobOf: (view: V) => string,
    listener: ListWatchListener<V>,
  ): ListWatch<V> {
    const { lingerMs: _linger, unseenMs: _unseen, ...options } = this.#options;
    const target = { connection: this.#connection, path: path(this.#namespace), labelSelector: this.#selector };
    return new ListWatch<V>({ ...options, ...target, project, jobOf, listener });
  }

  /** The view is lost with the first of its sources, and back with the last. */
  #connectivity(source: Source, lost: Active["lost"]): Pick<ListWatchListener<unknown>, "lost" | "back"> {
    return {
      lost: (error: ApiError) => {
        const text = source === "server" ? error.message : problemText(error);
        const fact: ApiLost = { kind: "api-lost", error: text ?? error.message, ...(text === null ? {} : { forPeople: true }) };
        lost.set(source, fact);
        if (lost.size === 1) for (const subscriber of this.#all()) subscriber.notify(fact);
      },
      back: () => {
        if (lost.delete(source) && lost.size === 0) for (const subscriber of this.#all()) subscriber.notify({ kind: "api-back" });
      },
    };
  }

  /** A Job that came and went between a list's start and the watch after it leaves no event behind: only another list shows it. */
  #lookFor(subscriber: Subscriber, active: Active): void {
    if (!subscriber.isUnseen) return;
    (this.#options.clock ?? systemClock).after(this.#options.unseenMs ?? 10_000, () => {
      const isOpen = this.#subscribers.get(subscriber.jobName)?.has(subscriber);
      if (!isOpen || !subscriber.isUnseen) return;
      if (active.lost.size === 0) active.jobs.relist();
      else this.#lookFor(subscriber, active);
    });
  }

  #of(jobName: string): readonly Subscriber[] {
    return [...(this.#subscribers.get(jobName) ?? [])];
  }

  #all(): readonly Subscriber[] {
    return [...this.#subscribers.values()].flatMap((peers) => [...peers]);
  }

  #leave(subscriber: Subscriber): void {
    const peers = this.#subscribers.get(subscriber.jobName);
    peers?.delete(subscriber);
    if (peers?.size === 0) this.#subscribers.delete(subscriber.jobName);
    if (this.#subscribers.size > 0 || !this.#active) return;
    this.#cancelLinger = (this.#options.clock ?? systemClock).after(this.#options.lingerMs ?? 60_000, () => this.close());
  }
}

const silence = (since: number): ApiError =>
  new ApiError("api_timeout", `the API server does not answer since ${new Date(since).toISOString()}`);

function notStarted(): Promise<never> {
  const rejected = Promise.reject(new Error("the watch starts with its first subscriber"));
  rejected.catch(() => {});
  return rejected;
}
