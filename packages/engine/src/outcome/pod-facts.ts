import type { ContainerState, ContainerView, PodView } from "../kube/views.ts";
import { plain } from "./kubernetes-texts.ts";

export type Terminated = Extract<ContainerState, { kind: "terminated" }>;

export function mainContainer(pod: PodView | null, name: string): ContainerView | null {
  return pod?.containers.find((container) => container.name === name) ?? null;
}

/** The container a pod that does not start waits for: an init container before the main one. */
export function waitingContainer(pod: PodView | null, name: string): ContainerView | null {
  const main = mainContainer(pod, name);
  if (main !== null && main.state.kind !== "waiting") return main;
  const init = pod?.initContainers.find(({ state }) => state.kind === "waiting" && state.reason !== "PodInitializing");
  return init ?? main;
}

/** The main container's end; an end the kubelet had to guess (ContainerStatusUnknown) is none. */
export function terminated(pod: PodView | null, name: string): Terminated | null {
  const state = mainContainer(pod, name)?.state;
  return state?.kind === "terminated" && state.reason !== "ContainerStatusUnknown" ? state : null;
}

export function failedInit(pod: PodView | null): { readonly name: string; readonly state: Terminated } | null {
  for (const { name, state, sidecar } of pod?.initContainers ?? []) {
    if (!sidecar && state.kind === "terminated" && state.exitCode !== 0) return { name, state };
  }
  return null;
}

/** A sidecar that has ended before it had started, and how; it is tried again. */
export function failedSidecar(pod: PodView | null): { readonly name: string; readonly end: Terminated } | null {
  for (const container of pod?.initContainers ?? []) {
    const end = container.sidecar ? sidecarEnd(container) : null;
    if (end !== null && !(container.state.kind === "running" && container.started)) return { name: container.name, end };
  }
  return null;
}

/** How a sidecar ended the last time; null = it has not ended yet. */
export function sidecarEnd({ state, lastEnd }: ContainerView): Terminated | null {
  return state.kind === "terminated" ? state : lastEnd;
}

/** The first container before the main one that still has to start or to end. */
export function unfinishedInit(pod: PodView | null): ContainerView | null {
  const isDone = ({ sidecar, started, state }: ContainerView) =>
    sidecar ? state.kind === "running" && started : state.kind === "terminated" && state.exitCode === 0;
  return pod?.initContainers.find((container) => !isDone(container)) ?? null;
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

/** In words, with what its container runtime or its own log says of it. */
export function endOf({ exitCode, reason, message }: Terminated): string {
  const why = message === null ? "" : `: ${plain(message)}`;
  return `exited with code ${exitCode}${reason === null || reason === "Error" || reason === "Completed" ? "" : ` (${reason})`}${why}`;
}

export function isStartError(state: Terminated): boolean {
  return state.reason === "StartError" || state.reason === "ContainerCannotRun";
}
