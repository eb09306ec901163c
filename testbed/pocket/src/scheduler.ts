import { setCondition } from "./object.ts";
import { isOver, type Pod } from "./pod.ts";
import { parseQuantity } from "./quantity.ts";
import type { StoreEvent } from "./store.ts";
import { nodeName, type World } from "./world.ts";

const noPreemption = "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
const noVictims = "no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";

// Binds pods to the one node, or says in the real words why not, and tries again when something changes.
export class Scheduler {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.store.subscribe((event) => this.#see(event));
  }

  /** Tries all waiting pods again. */
  recheck(): void {
    for (const pod of this.#world.store.list("pods")) if (!pod.spec.nodeName) this.#soon(pod);
  }

  #see({ type, resource, object }: StoreEvent): void {
    if (resource === "pods" && type === "ADDED" && !(object as Pod).spec.nodeName) this.#soon(object as Pod);
    const freed = resource === "pods" && (type === "DELETED" || isOver(object as Pod));
    if (freed || resource === "nodes" || (resource === "persistentvolumeclaims" && type !== "DELETED")) this.recheck();
  }

  #soon(pod: Pod): void {
    this.#world.timers.after(this.#world.timings.schedule, () => this.#schedule(pod));
  }

  #schedule({ metadata: { namespace, name, uid } }: Pod): void {
    const { store, recorder } = this.#world;
    const pod = store.get("pods", namespace, name);
    if (pod?.metadata.uid !== uid || pod.spec.nodeName || pod.metadata.deletionTimestamp || isOver(pod)) return;
    const why = unschedulable(this.#world, pod);
    if (why !== undefined) {
      const before = pod.status.conditions?.find((condition) => condition.type === "PodScheduled");
      if (before?.message === why) return;
      const condition = { type: "PodScheduled", status: "False", lastProbeTime: null, reason: "Unschedulable", message: why } as const;
      recorder.record(pod, "default-scheduler", "Warning", "FailedScheduling", why);
      store.change("pods", namespace, name, (draft) => {
        draft.status.conditions = setCondition(draft.status.conditions, condition);
      });
      return;
    }
    store.change("pods", namespace, name, (draft) => {
      draft.spec.nodeName = nodeName;
      draft.status.conditions = setCondition(draft.status.conditions, { type: "PodScheduled", status: "True", lastProbeTime: null });
    });
    recorder.record(pod, "default-scheduler", "Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${nodeName}`);
  }
}

function unschedulable(world: World, pod: Pod): string | undefined {
  const node = world.store.get("nodes", undefined, nodeName)!;
  const { store, state } = world;
  for (const volume of pod.spec.volumes ?? []) {
    const name = volume.persistentVolumeClaim?.claimName;
    if (name === undefined) continue;
    const claim = store.get("persistentvolumeclaims", pod.metadata.namespace, name);
    if (!claim) return `0/1 nodes are available: persistentvolumeclaim "${name}" not found. not found`;
    if (claim.status.phase !== "Bound") return "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
  }
  if (state.unschedulable !== null) return `0/1 nodes are available: ${state.unschedulable}. ${noPreemption}`;
  const taint = node.spec.taints?.[0];
  if (taint) return `0/1 nodes are available: 1 node(s) had untolerated taint {${taint.key}: }. ${noPreemption}`;
  const labels = node.metadata.labels ?? {};
  const matches = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  if (!matches) return `0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. ${noPreemption}`;
  return insufficient(world, pod, node.status.allocatable);
}

function insufficient(world: World, pod: Pod, allocatable: Record<string, string>): string | undefined {
  const others = world.store.list("pods").filter((other) => other.spec.nodeName && !isOver(other));
  const wanted = requests(pod);
  const short = [...wanted].filter(([name, amount]) => {
    const used = others.reduce((sum, other) => sum + (requests(other).get(name) ?? 0), 0);
    return amount > 0 && amount + used > (parseQuantity(allocatable[name] ?? "0") ?? 0);
  });
  if (short.length === 0) return undefined;
  const reasons = short.map(([name]) => (name === "pods" ? "1 Too many pods" : `1 Insufficient ${name}`)).join(", ");
  const alone = short.some(([name, amount]) => amount > (parseQuantity(allocatable[name] ?? "0") ?? 0));
  return `0/1 nodes are available: ${reasons}. ${alone ? noPreemption : noVictims}`;
}

function requests(pod: Pod): Map<string, number> {
  const sum = new Map([["pods", 1]]);
  for (const container of pod.spec.containers) {
    const table = { ...container.resources?.limits, ...container.resources?.requests };
    for (const [name, quantity] of Object.entries(table)) sum.set(name, (sum.get(name) ?? 0) + (parseQuantity(quantity) ?? 0));
  }
  return sum;
}
