import { type DeleteOptions, deleteObject } from "./delete.ts";
import { setCondition } from "./object.ts";
import type { Pod } from "./pod.ts";
import type { World } from "./world.ts";

// Marked first, deleted second: only the mark tells an eviction from a deletion by hand.
function disrupt(world: World, pod: Pod, reason: string, message: string, options: DeleteOptions): void {
  const { namespace, name } = pod.metadata;
  const marked = world.store.change("pods", namespace, name, (draft) => {
    draft.status.conditions = setCondition(draft.status.conditions, { type: "DisruptionTarget", status: "True", reason, message });
  });
  if (marked) deleteObject(world.store, "pods", marked, options);
}

export const evictPod = (world: World, pod: Pod, options: DeleteOptions): void =>
  disrupt(world, pod, "EvictionByEvictionAPI", "Eviction API: evicting", options);

export function preemptPod(world: World, pod: Pod): void {
  world.recorder.record(
    pod,
    "default-scheduler",
    "Normal",
    "Preempted",
    `Preempted by pod ${pod.metadata.uid} on node ${pod.spec.nodeName}`,
  );
  disrupt(world, pod, "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod", {});
}

export function deleteTaintedPod(world: World, pod: Pod): void {
  const about = `Marking for deletion Pod ${pod.metadata.namespace}/${pod.metadata.name}`;
  world.recorder.record(pod, "taint-eviction-controller", "Normal", "TaintManagerEviction", about);
  disrupt(world, pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", {});
}
