import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { deleteObject } from "./delete.ts";
import type { Claim } from "./object.ts";
import { type ResourceName, resources } from "./resources.ts";
import { storageClass } from "./seed.ts";
import type { StoreEvent } from "./store.ts";
import { hostDirAnnotation, type World } from "./world.ts";

const namespaced = (Object.keys(resources) as ResourceName[]).filter((name) => resources[name].namespaced);

// Small duties of the controller manager: a namespace's default account and its emptying, and volumes for claims.
export class NamespaceController {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.store.subscribe((event) => this.#see(event));
  }

  #see({ type, resource, object }: StoreEvent): void {
    if (resource === "persistentvolumeclaims" && type === "ADDED") this.#bind(object as Claim);
    if (resource !== "namespaces") return;
    const { name } = object.metadata;
    if (type === "ADDED") {
      this.#world.store.create("serviceaccounts", {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: name },
      });
    } else if (type === "DELETED") {
      for (const kind of namespaced) {
        for (const content of this.#world.store.list(kind, name)) {
          deleteObject(this.#world.store, kind, content, { propagationPolicy: "Background" });
        }
      }
    }
  }

  #bind({ metadata: { name, namespace, uid }, spec }: Claim): void {
    if (spec.storageClassName !== storageClass) return;
    const dir = join(this.#world.dir, "claims", uid);
    this.#world.timers.after(this.#world.timings.schedule, () => {
      mkdirSync(dir, { recursive: true });
      this.#world.store.change("persistentvolumeclaims", namespace, name, (draft) => {
        draft.metadata.annotations = { ...draft.metadata.annotations, [hostDirAnnotation]: dir };
        draft.spec.volumeName = `pvc-${uid}`;
        draft.status = { phase: "Bound", accessModes: draft.spec.accessModes ?? [] };
      });
    });
  }
}
