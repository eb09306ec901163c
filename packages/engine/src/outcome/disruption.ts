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
    return { by: "preemption", message: "the pod was preempted: it had to make room for one of higher priority", remedy: null };
  if (target?.status === "True" && target.reason === "DeletionByTaintManager")
    return { by: "node-loss", message: `${node} was lost, or tainted so that the pod had to go`, remedy: null };
  if (target?.status === "True" && target.reason === "DeletionByPodGC")
    return { by: "node-loss", message: `${node} is gone${detail(target.message)}`, remedy: null };
  if (pod.reason === "Evicted") return evictedByKubelet(pod, node);
  if (pod.reason === "Preempting")
    return { by: "preemption", message: `the kubelet made room for a critical pod${detail(pod.message)}`, remedy: null };
  if (pod.reason === "NodeLost") return { by: "node-loss", message: `${node} was lost${detail(pod.message)}`, remedy: null };
  if (pod.reason === "NodeShutdown" || pod.reason === "Terminated")
    return { by: "eviction", message: `${node} was shut down${detail(pod.message)}`, remedy: null };
  if (target?.status !== "True") return null;
  const how = target.reason === "EvictionByEvictionAPI" ? " through the API, as a drain or an autoscaler does" : detail(target.message);
  return { by: "eviction", message: `the pod was evicted${how}`, remedy: null };
}

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
