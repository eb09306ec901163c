import { type CliEnd, type ContainerState, type EndRecord, isFinished, type JobView, type PodView } from "@paperclip-k8s/engine";

/** What is known about one run's Job; every part may be missing. */
export interface RunFacts {
  readonly job: JobView | null;
  readonly pods: readonly PodView[];
  /** Name of the container with the agent. */
  readonly container: string;
  /** The runner's end record on the volume, where that can be read from here. */
  readonly endRecord: EndRecord | null;
  /** An end record that does not count: nothing proves who has written it. */
  readonly claimed: EndRecord | null;
  /** The same end from the container's termination message. */
  readonly termination: CliEnd | null;
}

type Terminated = Extract<ContainerState, { kind: "terminated" }>;

/** What the runner knows of an end; null = only the container's state is known. */
type Recorded = { readonly [Name in "exitCode" | "signal" | "cause" | "bytes" | "lines"]: CliEnd[Name] | null };

/** How an agent's container ended, from whatever proves it. */
export interface AgentEnd extends Recorded {
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly proof: "end record" | "termination message" | "container state";
  readonly pod: string | null;
  readonly node: string | null;
}

/** What is proved about a run's Job. */
export type JobState =
  /** The agent works, or may still start to. */
  | { readonly kind: "alive"; readonly why: string }
  | { readonly kind: "ended"; readonly end: AgentEnd }
  /** Its container provably never ran. */
  | { readonly kind: "never ran"; readonly why: string }
  /** Nothing proves either. */
  | { readonly kind: "unknown"; readonly why: string };

/** As `jobState`, where nothing but a record on the volume is left of the Job. */
export const stateByRecord = (ends: Pick<RunFacts, "endRecord" | "claimed">): JobState =>
  jobState({ job: null, pods: [], container: "", ...ends, termination: null });

/** Whether a run's agent has ended, as far as the cluster and the runner's own records prove it. */
export function jobState(facts: RunFacts): JobState {
  const { job, pods, endRecord } = facts;
  const living = pods.find((pod) => mayRun(pod, facts.container));
  if (living !== undefined) return lost(living) ?? { kind: "alive", why: describePod(living, facts.container) };
  const ended = pods.map((pod) => ({ pod, state: ending(pod, facts.container) })).find(({ state }) => state !== null);
  if (ended?.state) return { kind: "ended", end: fromPod(facts, ended.pod, ended.state) };
  if (endRecord !== null) return { kind: "ended", end: fromRecord(endRecord, null) };
  if (facts.claimed !== null && pods.length === 0) return { kind: "unknown", why: claimText(facts.claimed) };
  if (pods.length > 0) return withoutEnd(pods, facts.container);
  if (job === null) return { kind: "unknown", why: "no Job, no pod and no end record of this run is found" };
  if (!isFinished(job)) return { kind: "alive", why: job.suspended ? "the Job is suspended" : "the Job has no pod yet" };
  return { kind: "unknown", why: `the Job is ${jobEnd(job)}, but its pod is gone and no end record is seen from here` };
}

/** All of its containers have ended. */
export const isPhaseFinal = ({ phase }: Pick<PodView, "phase">): boolean => phase === "Succeeded" || phase === "Failed";

function mayRun(pod: PodView, container: string): boolean {
  if (isPhaseFinal(pod)) return false;
  return stateOf(pod, container)?.kind !== "terminated";
}

/** The pod of a node that does not answer may still run there. */
function lost(pod: PodView): JobState | null {
  const unseen = pod.conditions.Ready?.status === "Unknown" || pod.phase === "Unknown" || pod.reason === "NodeLost";
  return unseen ? { kind: "unknown", why: `node ${pod.node} of pod ${pod.name} does not answer; the agent may still run there` } : null;
}

/** Only a container that still waited when its pod ended, or a pod without a node, provably never ran. */
function withoutEnd(pods: readonly PodView[], container: string): JobState {
  const unseen = pods.find((pod) => stateOf(pod, container)?.kind !== "waiting" && pod.node !== null);
  if (unseen !== undefined) return { kind: "unknown", why: `how pod ${unseen.name} ended was not seen by its node` };
  const [pod] = pods;
  return { kind: "never ran", why: `pod ${pod?.name} is ${pod?.phase}${pod?.reason ? ` (${pod.reason})` : ""}; its container never ran` };
}

/** An end that the kubelet only guessed does not count. */
function ending(pod: PodView, container: string): Terminated | null {
  const state = stateOf(pod, container);
  return state?.kind === "terminated" && state.reason !== "ContainerStatusUnknown" ? state : null;
}

function fromPod({ endRecord, termination }: RunFacts, pod: PodView, state: Terminated): AgentEnd {
  const place = { pod: pod.name, node: pod.node, startedAt: state.startedAt, finishedAt: state.finishedAt, reason: state.reason };
  if (endRecord !== null) return { ...fromRecord(endRecord, pod), ...place };
  if (termination === null)
    return { ...place, exitCode: state.exitCode, signal: null, cause: null, bytes: null, lines: null, proof: "container state" };
  const { exitCode, signal, cause, bytes, lines } = termination;
  return { ...place, exitCode, signal, cause, bytes, lines, proof: "termination message" };
}

function fromRecord(record: EndRecord, pod: PodView | null): AgentEnd {
  const { exitCode, signal, cause, bytes, lines, at } = record;
  const place = { pod: pod?.name ?? null, node: pod?.node ?? null };
  return { exitCode, signal, cause, reason: null, startedAt: null, finishedAt: at, bytes, lines, proof: "end record", ...place };
}

/** Without the pod's name: it begins with its Job's. */
function describePod(pod: PodView, container: string): string {
  const state = stateOf(pod, container);
  if (state?.kind === "running") return state.startedAt === null ? "its pod runs" : `its pod runs since ${state.startedAt}`;
  return `its pod is ${pod.phase}${state?.kind === "waiting" && state.reason !== null ? ` (${state.reason})` : ""}`;
}

function stateOf(pod: PodView, container: string): ContainerState | null {
  return (pod.containers.find(({ name }) => name === container) ?? pod.containers[0])?.state ?? null;
}

const jobEnd = (job: JobView): string => {
  if ("Complete" in job.conditions) return "complete";
  const reason = job.conditions.Failed?.reason;
  return `failed${reason ? ` (${reason})` : ""}`;
};

function claimText(record: EndRecord): string {
  const claim = howEnded({ kind: "ended", end: fromRecord(record, null) });
  return `a record on the volume says that the agent ${claim}, but its signature cannot be checked here: run this in the server's container`;
}

const CAUSES = {
  timeout: "at its time limit",
  "output-limit": "at the limit of its output",
  stopped: "stopped from outside",
  "spawn-failed": "never started",
  "runner-failed": "its runner failed",
};

export type EndedJob = Extract<JobState, { kind: "ended" }>;

/** "exited with code 0", with the kubelet's reason where that says more. */
export function howEnded({ end: { exitCode, signal, cause, reason } }: EndedJob): string {
  const what =
    signal !== null ? `was ended by ${signal}` : exitCode === null ? "ended without an exit code" : `exited with code ${exitCode}`;
  const byRunner = cause === null || cause === "exit" || cause === "final-line" ? [] : [CAUSES[cause]];
  const byKubelet = reason === null || reason === "Completed" || reason === "Error" ? [] : [reason];
  const details = [...byRunner, ...byKubelet].join(", ");
  return details === "" ? what : `${what} (${details})`;
}
