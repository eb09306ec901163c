import { type Condition, timestamp } from "./object.ts";
import type { Container, ContainerState, ContainerStatus, PodSpec, PodStatus } from "./pod.ts";

// What the kubelet knows of a pod; the status is made from it.
export interface PodFacts {
  phase: PodStatus["phase"];
  /** The sandbox exists: volumes and network are there. */
  sandbox: boolean;
  startTime: string;
  reason?: string;
  message?: string;
  disruption?: { reason: string; message: string };
  readonly containers: Map<string, ContainerFacts>;
}

export interface ContainerFacts {
  state: ContainerState;
  lastState?: ContainerState;
  restartCount: number;
}

export function firstFacts(spec: PodSpec): PodFacts {
  const waiting = spec.initContainers?.length ? "PodInitializing" : "ContainerCreating";
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const containers = all.map(({ name }): [string, ContainerFacts] => [name, { state: { waiting: { reason: waiting } }, restartCount: 0 }]);
  return { phase: "Pending", sandbox: false, startTime: timestamp(), containers: new Map(containers) };
}

export function podStatus(spec: PodSpec, facts: PodFacts, before: PodStatus): PodStatus {
  const statuses = (list: PodSpec["containers"]) => list.map(({ name, image }) => containerStatus(name, image, facts));
  const { reason, message } = facts;
  return {
    phase: facts.phase,
    conditions: conditionsOf(spec, facts, before.conditions ?? []),
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    hostIP: "127.0.0.1",
    ...(facts.sandbox ? { podIP: "127.0.0.1", podIPs: [{ ip: "127.0.0.1" }] } : {}),
    startTime: facts.startTime,
    ...(spec.initContainers?.length ? { initContainerStatuses: statuses(spec.initContainers) } : {}),
    containerStatuses: statuses(spec.containers),
    ...(before.qosClass === undefined ? {} : { qosClass: before.qosClass }),
  };
}

function containerStatus(name: string, image: string, facts: PodFacts): ContainerStatus {
  const { state, lastState, restartCount } = facts.containers.get(name)!;
  const running = state.running !== undefined;
  return { name, state, lastState: lastState ?? {}, ready: running, started: running, restartCount, image, imageID: "" };
}

/** A sidecar is done with its part of the start when it runs. */
const isDone = ({ restartPolicy }: Container, { state }: ContainerFacts): boolean =>
  restartPolicy === "Always" ? state.waiting === undefined : state.terminated?.exitCode === 0;

function conditionsOf(spec: PodSpec, facts: PodFacts, before: readonly Condition[]): Condition[] {
  const now = timestamp();
  const own = [sandboxReady(facts), initialized(spec, facts), ready("Ready", spec, facts), ready("ContainersReady", spec, facts)];
  const scheduled: Condition = { type: "PodScheduled", status: "True" };
  if (facts.disruption) own.unshift({ type: "DisruptionTarget", status: "True", ...facts.disruption });
  const kubelets = [...own, scheduled].map((condition): Condition => {
    const old = before.find(({ type }) => type === condition.type);
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
    return { lastProbeTime: null, ...condition, lastTransitionTime };
  });
  // Conditions of others (DisruptionTarget) come first, as the kubelet merges them.
  return [...before.filter(({ type }) => !kubelets.some((condition) => condition.type === type)), ...kubelets];
}

function sandboxReady(facts: PodFacts): Condition {
  const over = facts.phase === "Succeeded" || facts.phase === "Failed";
  return { type: "PodReadyToStartContainers", status: facts.sandbox && !over ? "True" : "False" };
}

function initialized(spec: PodSpec, facts: PodFacts): Condition {
  const open = (spec.initContainers ?? []).filter((container) => !isDone(container, facts.containers.get(container.name)!));
  if (open.length === 0) return { type: "Initialized", status: "True", ...(facts.phase === "Succeeded" ? { reason: "PodCompleted" } : {}) };
  const message = `containers with incomplete status: [${open.map(({ name }) => name).join(" ")}]`;
  return { type: "Initialized", status: "False", reason: "ContainersNotInitialized", message };
}

function ready(type: string, spec: PodSpec, facts: PodFacts): Condition {
  if (facts.phase === "Succeeded") return { type, status: "False", reason: "PodCompleted" };
  if (facts.phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const unready = spec.containers.filter(({ name }) => !facts.containers.get(name)!.state.running).map(({ name }) => name);
  if (unready.length === 0) return { type, status: "True" };
  return { type, status: "False", reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
}

// A container of which nothing is known when its pod is stopped.
export const unknownState = (message: string): ContainerState => ({
  terminated: { exitCode: 137, reason: "ContainerStatusUnknown", message, startedAt: null, finishedAt: null },
});
