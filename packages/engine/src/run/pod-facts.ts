import type { ContainerState, ContainerView, PodView } from "../cluster/views.ts";
import type { KilledBy } from "./outcome.ts";

export type Terminated = Extract<ContainerState, { kind: "terminated" }>;

export function mainContainer(pod: PodView | null, name: string): ContainerView | null {
  return pod?.containers.find((container) => container.name === name) ?? null;
}

/** The main container's end; an end the kubelet had to guess (ContainerStatusUnknown) is none. */
export function terminated(pod: PodView | null, name: string): Terminated | null {
  const state = mainContainer(pod, name)?.state;
  return state?.kind === "terminated" && state.reason !== "ContainerStatusUnknown" ? state : null;
}

export function failedInit(pod: PodView | null): { readonly name: string; readonly state: Terminated } | null {
  for (const container of pod?.initContainers ?? []) {
    if (container.state.kind === "terminated" && container.state.exitCode !== 0) return { name: container.name, state: container.state };
  }
  return null;
}

/** Nothing of this pod runs any more, as far as its node told. */
export function podIsOver(pod: PodView | null, name: string): boolean {
  if (pod === null) return false;
  return pod.phase === "Succeeded" || pod.phase === "Failed" || mainContainer(pod, name)?.state.kind === "terminated";
}

/** A container that runs or has run: the runner, and with it the CLI, may have done something. */
export function hasStarted(pod: PodView | null, name: string): boolean {
  const state = mainContainer(pod, name)?.state;
  if (state?.kind === "running") return true;
  return state?.kind === "terminated" && !isStartError(state);
}

export function isStartError(state: Terminated): boolean {
  return state.reason === "StartError" || state.reason === "ContainerCannotRun";
}

/** Who took the pod away, where its conditions or its reason say so. */
export function disruption(pod: PodView | null): { readonly by: KilledBy; readonly message: string } | null {
  const target = pod?.conditions.DisruptionTarget;
  if (target?.status === "True") {
    const message = target.message ?? target.reason ?? "the pod was disrupted";
    if (target.reason === "PreemptionByScheduler") return { by: "preemption", message };
    if (target.reason === "DeletionByTaintManager" || target.reason === "DeletionByPodGC") return { by: "node-loss", message };
    return { by: "eviction", message };
  }
  if (pod?.reason === "Evicted") return { by: "eviction", message: pod.message ?? "evicted by the kubelet" };
  if (pod?.reason === "Preempting") return { by: "preemption", message: pod.message ?? "preempted" };
  if (pod?.reason === "NodeLost" || pod?.reason === "NodeShutdown" || pod?.reason === "Terminated")
    return { by: "node-loss", message: pod.message ?? `the pod's node reported ${pod.reason}` };
  return null;
}
