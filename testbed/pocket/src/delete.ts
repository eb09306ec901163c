import { type KubeObject, timestamp } from "./object.ts";
import { isOver, type Pod } from "./pod.ts";
import type { ResourceName } from "./resources.ts";
import { conflict } from "./status.ts";
import type { Store } from "./store.ts";

export interface DeleteOptions {
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

export function checkPreconditions(resource: ResourceName, object: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = object;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid})`;
    throw conflict(resource, metadata.name, `${why}. The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion})`;
    throw conflict(resource, metadata.name, `${why}. The object might have been modified`);
  }
}

/** Deletes, or marks for deletion what something still holds; `gone` tells which. */
export function deleteObject(
  store: Store,
  resource: ResourceName,
  object: KubeObject,
  options: DeleteOptions,
): { object: KubeObject; gone: boolean } {
  checkPreconditions(resource, object, options);
  const finalizers = withPropagation(resource, object.metadata.finalizers ?? [], options);
  const grace = resource === "pods" ? podGrace(object as Pod, options) : 0;
  const old = object.metadata.deletionGracePeriodSeconds;
  if (
    object.metadata.deletionTimestamp &&
    old !== undefined &&
    old <= grace &&
    finalizers.length === (object.metadata.finalizers ?? []).length
  ) {
    return { object, gone: false };
  }
  if (finalizers.length === 0 && grace === 0 && resource !== "pods") return { object: store.remove(resource, object), gone: true };
  const metadata = {
    ...object.metadata,
    deletionTimestamp: timestamp(Date.now() + grace * 1000),
    deletionGracePeriodSeconds: grace,
    ...(finalizers.length > 0 ? { finalizers } : {}),
  };
  const updated = store.update(resource, { ...object, metadata } as never) as KubeObject;
  return { object: updated, gone: store.get(resource, metadata.namespace, metadata.name)?.metadata.uid !== metadata.uid };
}

// A pod on no node, or one that is over, has nobody to wait for.
function podGrace(pod: Pod, options: DeleteOptions): number {
  if (!pod.spec.nodeName || isOver(pod)) return 0;
  return Math.max(0, options.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30);
}

// batch/v1 keeps its old default: pods of a Job deleted without a policy are orphaned.
function withPropagation(resource: ResourceName, finalizers: string[], options: DeleteOptions): string[] {
  const policy = options.propagationPolicy ?? (resource === "jobs" ? "Orphan" : "Background");
  const wanted = policy === "Foreground" ? foregroundFinalizer : policy === "Orphan" ? orphanFinalizer : undefined;
  const others = finalizers.filter((name) => name !== foregroundFinalizer && name !== orphanFinalizer);
  return wanted && resource === "jobs" ? [...others, wanted] : others;
}

/** The kubelet's last word on a deleted pod: its container has ended. */
export function releasePod(store: Store, pod: Pod): void {
  store.change("pods", pod.metadata.namespace, pod.metadata.name, (draft) => {
    if (draft.metadata.uid !== pod.metadata.uid) return;
    draft.metadata.deletionTimestamp = timestamp();
    draft.metadata.deletionGracePeriodSeconds = 0;
  });
}
