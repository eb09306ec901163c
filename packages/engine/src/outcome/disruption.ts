import type { PodView } from "../kube/views.ts";
import type { KilledBy } from "../run-outcome.ts";
import { plain } from "./kubernetes-texts.ts";

export interface Disruption {
  readonly by: KilledBy;
  readonly message: string;
  /** What to change; null = nothing of ours. */
  readonly remedy: string | null;
}

/** What removed the pod, where its conditions or its reason name it. */
export function disruption(pod: PodView | null): Disruption | null {
  if (pod === null) return null;
  const target = pod.conditions.DisruptionTarget;
  const node = pod.node === null ? "the pod's node" : `node ${pod.node}`;
  if (target?.status === "True" && target.reason === "PreemptionByScheduler")
    return disrupted("preemption", "the pod was preempted: it had to make room for one of higher priority");
  if (target?.status === "True" && target.reason === "DeletionByTaintManager")
    return disrupted("node-loss", `${node} was lost, or tainted so that the pod had to go`);
  if (target?.status === "True" && target.reason === "DeletionByPodGC")
    return disrupted("node-loss", `${node} is gone${detail(target.message)}`);
  if (pod.reason === "Evicted") return evictedByKubelet(pod, node);
  if (pod.reason === "Preempting") return disrupted("preemption", `the kubelet made room for a critical pod${detail(pod.message)}`);
  if (pod.reason === "NodeLost") return disrupted("node-loss", `${node} was lost${detail(pod.message)}`);
  if (pod.reason === "NodeShutdown" || pod.reason === "Terminated")
    return disrupted("eviction", `${node} was shut down${detail(pod.message)}`);
  if (target?.status !== "True") return null;
  const how = target.reason === "EvictionByEvictionAPI" ? " through the API, as a drain or an autoscaler does" : detail(target.message);
  return disrupted("eviction", `the pod was evicted${how}`);
}

const disrupted = (by: KilledBy, message: string): Disruption => ({ by, message, remedy: null });

function evictedByKubelet({ message, resources, containers }: PodView, node: string): Disruption {
  const why = message === null ? "" : plain(message);
  const evicted = `the kubelet of ${node} evicted the pod${why === "" ? "" : `: ${why}`}`;
  const asked = resources[containers[0]?.name ?? ""]?.["requests.memory"];
  const remedy = /resource: memory/i.test(why)
    ? `raise resources.requests.memory${asked === undefined ? "" : `, now ${asked}`}`
    : /EmptyDir volume "([^"]+)"/.test(why)
      ? `the run must keep less in volume ${why.match(/EmptyDir volume "([^"]+)"/)?.[1]}`
      : /ephemeral|disk|inodes/i.test(why)
        ? "the run must keep less on the node's disk, or the node needs more of it"
        : null;
  return { by: "eviction", message: evicted, remedy };
}

const detail = (message: string | null): string => (message === null ? "" : `: ${plain(message)}`);
