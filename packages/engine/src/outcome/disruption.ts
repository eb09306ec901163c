import type { PodView } from "../kube/views.ts";
import type { KilledBy } from "../run-outcome.ts";
import { plain } from "./kubernetes-texts.ts";

interface Disruption {
  readonly by: KilledBy;
  readonly message: string;
  /** What to change; null = nothing of ours. */
  readonly remedy: string | null;
}

/** What removed the pod, where its conditions or its reason name it. */
export function disruption(pod: PodView | null, container: string): Disruption | null {
  if (pod === null) return null;
  const target = pod.conditions.DisruptionTarget;
  const node = pod.node === null ? "the pod's node" : `node ${pod.node}`;
  if (target?.status === "True" && target.reason === "PreemptionByScheduler")
    return disrupted("preemption", "the pod was preempted: it had to make room for one of higher priority");
  if (target?.status === "True" && target.reason === "DeletionByTaintManager")
    return disrupted("node-loss", `${node} was lost, or tainted so that the pod had to go`);
  if (target?.status === "True" && target.reason === "DeletionByPodGC")
    return disrupted("node-loss", `${node} is gone${detail(target.message)}`);
  if (pod.reason === "Evicted") return evictedByKubelet(pod, node, container);
  if (pod.reason === "Preempting") return disrupted("preemption", `the kubelet made room for a critical pod${detail(pod.message)}`);
  if (pod.reason === "NodeLost") return disrupted("node-loss", `${node} was lost${detail(pod.message)}`);
  if (pod.reason === "NodeShutdown" || pod.reason === "Terminated")
    return disrupted("eviction", `${node} was shut down${detail(pod.message)}`);
  if (target?.status !== "True") return null;
  const how = target.reason === "EvictionByEvictionAPI" ? " through the API, as a drain or an autoscaler does" : detail(target.message);
  return disrupted("eviction", `the pod was evicted${how}`);
}

const disrupted = (by: KilledBy, message: string): Disruption => ({ by, message, remedy: null });

function evictedByKubelet(pod: PodView, node: string, container: string): Disruption {
  const why = pod.message === null ? "" : plain(pod.message);
  return {
    by: "eviction",
    message: `the kubelet of ${node} evicted the pod${why === "" ? "" : `: ${why}`}`,
    remedy: remedyFor(why, pod.resources[container]),
  };
}

/** By the kubelet's own texts: a node that is short of something, or a pod beyond a limit of its own. */
function remedyFor(why: string, resources: PodView["resources"][string] | undefined): string | null {
  const asked = resources?.["requests.memory"];
  if (/resource: memory/i.test(why)) return `raise resources.requests.memory${asked === undefined ? "" : `, now ${asked}`}`;
  const volume = /EmptyDir volume "([^"]+)"/.exec(why)?.[1];
  if (volume !== undefined) return `the run must keep less in volume ${volume}`;
  if (/ephemeral (local )?storage (usage|limit)/i.test(why))
    return "the run must keep less in its home and temporary folder, or raise limits.ephemeralStorage in the policy";
  return /ephemeral|disk|inodes/i.test(why) ? "the run must keep less on the node's disk, or the node needs more of it" : null;
}

const detail = (message: string | null): string => (message === null ? "" : `: ${plain(message)}`);
