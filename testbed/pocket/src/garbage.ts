import { deleteObject, foregroundFinalizer, orphanFinalizer } from "./delete.ts";
import type { KubeObject, OwnerReference } from "./object.ts";
import { type ResourceName, resourceOfKind, resources } from "./resources.ts";
import type { StoreEvent } from "./store.ts";
import type { World } from "./world.ts";

const names = Object.keys(resources) as ResourceName[];

// Deletes what a gone owner leaves behind, and lets an owner go once what blocks it is gone.
export class GarbageCollector {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.store.subscribe((event) => this.#see(event));
  }

  #see({ type, resource, object }: StoreEvent): void {
    const owners = object.metadata.ownerReferences ?? [];
    const held = object.metadata.finalizers?.some((name) => name === foregroundFinalizer || name === orphanFinalizer);
    if (type === "DELETED" || owners.length > 0 || (object.metadata.deletionTimestamp && held)) {
      this.#world.timers.after(this.#world.timings.garbage, () => this.#collect(type, resource, object));
    }
  }

  #collect(type: StoreEvent["type"], resource: ResourceName, object: KubeObject): void {
    const { uid, namespace, name } = object.metadata;
    if (type === "DELETED") {
      for (const { resource: kind, object: dependent } of this.#dependents(uid)) this.#deleteIfOrphan(kind, dependent);
      for (const owner of object.metadata.ownerReferences ?? []) this.#releaseOwner(owner, namespace);
      return;
    }
    const current = this.#world.store.get(resource, namespace, name);
    if (current?.metadata.uid !== uid) return;
    if (current.metadata.deletionTimestamp) this.#finalize(resource, current);
    else this.#deleteIfOrphan(resource, current);
  }

  #finalize(resource: ResourceName, owner: KubeObject): void {
    const { uid, finalizers = [] } = owner.metadata;
    if (finalizers.includes(orphanFinalizer)) {
      for (const dependent of this.#dependents(uid)) this.#disown(dependent.resource, dependent.object, uid);
      this.#dropFinalizer(resource, owner, orphanFinalizer);
    } else if (finalizers.includes(foregroundFinalizer)) {
      const blocking = this.#dependents(uid).filter(({ object }) => refTo(object, uid)?.blockOwnerDeletion);
      for (const { resource: kind, object } of blocking) {
        if (!object.metadata.deletionTimestamp) deleteObject(this.#world.store, kind, object, { propagationPolicy: "Background" });
      }
      if (blocking.length === 0) this.#dropFinalizer(resource, owner, foregroundFinalizer);
    }
  }

  #releaseOwner(ref: OwnerReference, namespace: string | undefined): void {
    const owner = this.#owner(ref, namespace);
    if (owner?.object.metadata.deletionTimestamp) this.#finalize(owner.resource, owner.object);
  }

  // An owner with the right name but another uid is a stranger.
  #owner(ref: OwnerReference, namespace: string | undefined): { resource: ResourceName; object: KubeObject } | undefined {
    const resource = resourceOfKind(ref.apiVersion, ref.kind);
    if (!resource) return undefined;
    const object = this.#world.store.get(resource, resources[resource].namespaced ? namespace : undefined, ref.name);
    return object?.metadata.uid === ref.uid ? { resource, object } : undefined;
  }

  #deleteIfOrphan(resource: ResourceName, object: KubeObject): void {
    const { ownerReferences = [], namespace, deletionTimestamp } = object.metadata;
    if (ownerReferences.length === 0 || deletionTimestamp || ownerReferences.some((ref) => this.#owner(ref, namespace))) return;
    deleteObject(this.#world.store, resource, object, { propagationPolicy: "Background" });
  }

  #dependents(uid: string): { resource: ResourceName; object: KubeObject }[] {
    return names.flatMap((resource) =>
      this.#world.store
        .list(resource)
        .filter((object) => refTo(object, uid))
        .map((object) => ({ resource, object })),
    );
  }

  #disown(resource: ResourceName, object: KubeObject, uid: string): void {
    this.#world.store.change(resource, object.metadata.namespace, object.metadata.name, (draft) => {
      draft.metadata.ownerReferences = draft.metadata.ownerReferences?.filter((ref) => ref.uid !== uid) ?? [];
    });
  }

  #dropFinalizer(resource: ResourceName, owner: KubeObject, finalizer: string): void {
    this.#world.store.change(resource, owner.metadata.namespace, owner.metadata.name, (draft) => {
      draft.metadata.finalizers = draft.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
    });
  }
}

const refTo = (object: KubeObject, uid: string): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((ref) => ref.uid === uid);
