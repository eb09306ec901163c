import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type KubeObject, type Meta, timestamp } from "./object.ts";
import { type ResourceName, type Resources, resources } from "./resources.ts";

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly resource: ResourceName;
  readonly object: KubeObject;
  /** The state before, which tells whether an object left a selector. */
  readonly previous?: KubeObject;
}

export type NewMeta = Pick<Meta, "name"> & Partial<Meta>;

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

// All objects, one version counter for all of them, and the last changes for watches that resume. Stored objects are never changed in place.
export class Store {
  #version = 100;
  #historyStart = 100;
  #history: StoreEvent[] = [];
  readonly #historyLimit: number;
  readonly #tables = new Map<ResourceName, Map<string, KubeObject>>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  readonly #queue: StoreEvent[] = [];
  #draining = false;

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
    for (const name of Object.keys(resources) as ResourceName[]) this.#tables.set(name, new Map());
  }

  get version(): number {
    return this.#version;
  }

  get<R extends ResourceName>(resource: R, namespace: string | undefined, name: string): Resources[R] | undefined {
    return this.#table(resource).get(keyOf(namespace, name)) as Resources[R] | undefined;
  }

  /** Sorted by namespace and name, as etcd keeps them. */
  list<R extends ResourceName>(resource: R, namespace?: string): Resources[R][] {
    const all = [...this.#table(resource)].filter(([, object]) => namespace === undefined || object.metadata.namespace === namespace);
    return all.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object as Resources[R]);
  }

  /** Fills in what only the server knows; the caller has checked that the name is free. */
  create<R extends ResourceName>(resource: R, object: Omit<Resources[R], "metadata"> & { metadata: NewMeta }): Resources[R] {
    const metadata = { ...serverMeta(), ...object.metadata };
    return this.#commit("ADDED", resource, { ...object, metadata } as unknown as KubeObject) as Resources[R];
  }

  update<R extends ResourceName>(resource: R, next: Resources[R]): Resources[R] {
    const key = keyOf(next.metadata.namespace, next.metadata.name);
    const previous = this.#table(resource).get(key);
    if (!previous) return next;
    if (isDeepStrictEqual(previous, next)) return previous as Resources[R];
    const generation = isDeepStrictEqual(previous.spec, next.spec) ? previous.metadata.generation : (previous.metadata.generation ?? 0) + 1;
    const object = { ...next, metadata: { ...next.metadata, ...(generation === undefined ? {} : { generation }) } };
    if (isReleased(resource, object)) return this.#commit("DELETED", resource, object, previous) as Resources[R];
    return this.#commit("MODIFIED", resource, object, previous) as Resources[R];
  }

  /** Edits a copy; undefined when the object does not exist (any more). */
  change<R extends ResourceName>(
    resource: R,
    namespace: string | undefined,
    name: string,
    edit: (draft: Resources[R]) => void,
  ): Resources[R] | undefined {
    const current = this.get(resource, namespace, name);
    if (!current) return undefined;
    const draft = structuredClone(current);
    edit(draft);
    return this.update(resource, draft);
  }

  remove(resource: ResourceName, object: KubeObject): KubeObject {
    return this.#commit("DELETED", resource, object, object);
  }

  /** undefined when some change after that version is no longer known. */
  since(version: number): StoreEvent[] | undefined {
    return version < this.#historyStart ? undefined : this.#history.filter((event) => event.version > version);
  }

  /** Everything up to now can no longer be resumed from. */
  forget(): void {
    this.#history = [];
    this.#version += 1;
    this.#historyStart = this.#version;
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #table(resource: ResourceName): Map<string, KubeObject> {
    return this.#tables.get(resource)!;
  }

  #commit(type: StoreEvent["type"], resource: ResourceName, next: KubeObject, previous?: KubeObject): KubeObject {
    this.#version += 1;
    const object = { ...next, metadata: { ...next.metadata, resourceVersion: String(this.#version) } };
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    if (type === "DELETED") this.#table(resource).delete(key);
    else this.#table(resource).set(key, object);
    this.#publish({ type, version: this.#version, resource, object, ...(previous ? { previous } : {}) });
    return object;
  }

  // Listeners write to the store themselves; the queue keeps the order the same for all of them.
  #publish(event: StoreEvent): void {
    this.#history.push(event);
    if (this.#history.length > this.#historyLimit) this.#historyStart = this.#history.shift()!.version;
    this.#queue.push(event);
    if (this.#draining) return;
    this.#draining = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
        for (const listener of [...this.#listeners]) listener(next);
      }
    } finally {
      this.#draining = false;
    }
  }
}

const serverMeta = () => ({ uid: randomUUID(), resourceVersion: "", generation: 1, creationTimestamp: timestamp() });

// A pod also waits for its kubelet to say that the container has ended (grace period 0).
function isReleased(resource: ResourceName, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (!deletionTimestamp || (finalizers && finalizers.length > 0)) return false;
  return resource !== "pods" || deletionGracePeriodSeconds === 0;
}
