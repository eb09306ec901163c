import { identify } from "../views.ts";

export interface CacheListener<V> {
  upsert(view: V): void;
  gone(lastView: V): void;
}

interface Entry<V> {
  readonly view: V;
  readonly resourceVersion: string;
  /** Number of the last list that held it. */
  list: number;
}

const maxDeletedUids = 2000;

/** The objects of one list-watch, by uid (a name can be used again while the end of its former owner is still under way) and by the name of their Job. */
export class ObjectCache<V> {
  readonly #byUid = new Map<string, Entry<V>>();
  readonly #byJob = new Map<string, Map<string, V>>();
  readonly #deletedUids = new Set<string>();
  readonly #project: (raw: unknown) => V;
  readonly #jobOf: (view: V) => string;
  readonly #listener: CacheListener<V>;

  constructor(project: (raw: unknown) => V, jobOf: (view: V) => string, listener: CacheListener<V>) {
    this.#project = project;
    this.#jobOf = jobOf;
    this.#listener = listener;
  }

  all(): readonly V[] {
    return [...this.#byUid.values()].map(({ view }) => view);
  }

  /** In the order in which they were first seen. */
  ofJob(name: string): readonly V[] {
    return [...(this.#byJob.get(name)?.values() ?? [])];
  }

  get(uid: string): V | undefined {
    return this.#byUid.get(uid)?.view;
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid);
  }

  /** It was here and is gone: a run may ask about its own Job a moment too late. */
  wasDeleted(uid: string): boolean {
    return this.#deletedUids.has(uid);
  }

  /** An object of list number `list`: the truth, so any other version counts, also a lower one (a restored store). */
  listed(raw: unknown, list: number): void {
    const id = identify(raw);
    if (!id) return;
    const known = this.#byUid.get(id.uid);
    if (known) known.list = list;
    if (known?.resourceVersion !== id.resourceVersion) this.#keep(id, raw, list);
  }

  /** Objects that list number `list` did not hold were deleted while nobody watched. */
  sweep(list: number): void {
    for (const [uid, known] of this.#byUid) if (known.list !== list) this.#drop(uid, known.view, known.view);
  }

  /** An object of a watch event. Versions already seen are dropped. */
  changed(raw: unknown, list: number): void {
    const id = identify(raw);
    if (!id) return;
    const known = this.#byUid.get(id.uid);
    if (known && !isNewer(id.resourceVersion, known.resourceVersion)) return;
    this.#keep(id, raw, list);
  }

  /** The deletion's object is the last state there will ever be of it: exit codes included. */
  deleted(raw: unknown): void {
    const id = identify(raw);
    const known = id ? this.#byUid.get(id.uid) : undefined;
    if (id && known) this.#drop(id.uid, known.view, this.#project(raw));
  }

  #keep({ uid, resourceVersion }: { uid: string; resourceVersion: string }, raw: unknown, list: number): void {
    const view = this.#project(raw);
    this.#byUid.set(uid, { view, resourceVersion, list });
    const job = this.#jobOf(view);
    const peers = this.#byJob.get(job) ?? new Map<string, V>();
    this.#byJob.set(job, peers.set(uid, view));
    this.#listener.upsert(view);
  }

  #drop(uid: string, known: V, last: V): void {
    this.#byUid.delete(uid);
    const job = this.#jobOf(known);
    const peers = this.#byJob.get(job);
    peers?.delete(uid);
    if (peers?.size === 0) this.#byJob.delete(job);
    this.#deletedUids.add(uid);
    const [oldest] = this.#deletedUids;
    if (oldest !== undefined && this.#deletedUids.size > maxDeletedUids) this.#deletedUids.delete(oldest);
    this.#listener.gone(last);
  }
}

/** Compares decimal versions of any length; of versions of another form only equality is known. */
export function isNewer(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return version !== than;
  return version.length === than.length ? version > than : version.length > than.length;
}
