import { identify } from "../project.ts";

export interface KnownObjectsEvents<V> {
  upsert(view: V): void;
  gone(lastView: V): void;
}

interface Known<V> {
  view: V;
  resourceVersion: string;
  /** Number of the last list that held it. */
  list: number;
}

/** What a list-watch knows, by uid: a name can be used again while the end of its former bearer is still under way. */
export class KnownObjects<V> {
  readonly #byUid = new Map<string, Known<V>>();
  readonly #project: (raw: unknown) => V;
  readonly #events: KnownObjectsEvents<V>;

  constructor(project: (raw: unknown) => V, events: KnownObjectsEvents<V>) {
    this.#project = project;
    this.#events = events;
  }

  /** An object of list number `list`: the truth, so any other version counts, also a lower one (a restored store). */
  listed(raw: unknown, list: number): void {
    const id = identify(raw);
    if (!id) return;
    const known = this.#byUid.get(id.uid);
    if (known) known.list = list;
    if (known?.resourceVersion !== id.resourceVersion) this.#keep(id, raw, list);
  }

  /** Objects that list number `list` did not hold vanished unseen. */
  sweep(list: number): void {
    for (const [uid, known] of this.#byUid) {
      if (known.list === list) continue;
      this.#byUid.delete(uid);
      this.#events.gone(known.view);
    }
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
    if (!id || !this.#byUid.delete(id.uid)) return;
    this.#events.gone(this.#project(raw));
  }

  #keep(id: { uid: string; resourceVersion: string }, raw: unknown, list: number): void {
    const view = this.#project(raw);
    this.#byUid.set(id.uid, { view, resourceVersion: id.resourceVersion, list });
    this.#events.upsert(view);
  }
}

/** Compares decimal versions of any length; versions of another form are only told apart. */
export function isNewer(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return version !== than;
  return version.length === than.length ? version > than : version.length > than.length;
}
