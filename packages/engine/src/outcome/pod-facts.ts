import type { ContainerState, ContainerView, PodView } from "../kube/views.ts";

export type Terminated = Extract<ContainerState, { kind: "terminated" }>;

export function mainContainer(pod: PodView | null, name: string): ContainerView | null {
  return pod?.containers.find((container) => container.name === name) ?? null;
}

/** The container a pod that does not start waits for: an init container before the main one. */
export function waitingContainer(pod: PodView | null, name: string): ContainerView | null {
  const init = pod?.initContainers.find(({ state }) => state.kind === "waiting" && state.reason !== "PodInitializing");
  return init ?? mainContainer(pod, name);
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

/** Nothing of this pod runs any more, as far as its node has reported. */
export function podHasEnded(pod: PodView | null, name: string): boolean {
  if (pod === null) return false;
  return pod.phase === "Succeeded" || pod.phase === "Failed" || mainContainer(pod, name)?.state.kind === "terminated";
}

/** A container that runs or has run: the runner, and with it the CLI, may have done something. */
export function hasStarted(pod: PodView | null, name: string): boolean {
  const state = mainContainer(pod, name)?.state;
  if (state?.kind === "running") return true;
  return state?.kind === "terminated" && !isStartError(state);
}

/** Proof that the container ran: an end the kubelet had to guess is none. */
export function hasRun(pod: PodView | null, name: string): boolean {
  if (mainContainer(pod, name)?.state.kind === "running") return true;
  const end = terminated(pod, name);
  return end !== null && !isStartError(end);
}

export function isStartError(state: Terminated): boolean {
  return state.reason === "StartError" || state.reason === "ContainerCannotRun";
}
