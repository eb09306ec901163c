import { readdirSync, readFileSync } from "node:fs";
import { projectEvent, projectJob, projectPod } from "../../kube/views.ts";
import type { Fact, Observation } from "../observation.ts";

type Raw = Record<string, unknown>;
type State = Readonly<Record<string, Raw>>;

/** One case as a real cluster showed it; pod-status/README.md lists them. */
interface Recorded {
  readonly case: string;
  readonly job?: { readonly metadata: Raw; readonly spec: Raw; readonly status: { readonly conditions?: readonly Raw[] } } | null;
  readonly pods: readonly RawPod[];
  readonly lastPodBeforeRemoval?: RawPod;
  readonly podTransitions?: readonly PodStep[];
  readonly jobTransitions?: readonly JobStep[];
  readonly events?: readonly { readonly involvedObject: { readonly kind: string } }[];
}
interface RawPod {
  readonly metadata: Raw;
  readonly spec: Raw;
  readonly status: Raw & {
    readonly conditions?: readonly Raw[];
    readonly containerStatuses?: readonly (Raw & { readonly state: State })[];
  };
}
interface PodStep {
  readonly ms: number;
  readonly phase?: string;
  readonly reason?: string;
  readonly container?: string;
  readonly init?: string;
  readonly deleting?: boolean;
  readonly deleted?: boolean;
  readonly disruptionTarget?: string;
}
interface JobStep {
  readonly ms: number;
  readonly active?: number;
  readonly conditions?: readonly string[];
  readonly deleted?: boolean;
}

const FOLDER = new URL("./pod-status/", import.meta.url);
/** The events are read when a pod has not started by then. */
const EVENTS_MS = 3200;

export const recordedCases = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -".json".length));

const read = (name: string): Recorded => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8"));

/** What the two watches and the events showed of a case, in their order, through the engine's own projections; `during`: snapshots of the same pod. */
export function recorded(name: string, during: readonly string[] = []): Observation[] {
  const found = read(name);
  const snapshots = during.flatMap((other) => read(other).pods);
  const facts = [...jobFacts(found), ...podFacts(found, snapshots), ...eventFacts(found)];
  return facts.sort((a, b) => a.at - b.at);
}

function jobFacts({ job, jobTransitions = [], ...rest }: Recorded): Observation[] {
  const finals = job?.status.conditions ?? [];
  return jobTransitions.map(({ ms, active = 0, conditions = [], deleted }): Observation => {
    if (deleted) return { at: ms, kind: "job-gone" };
    const reported = conditions.map((text) => {
      const [type, reason] = text.split(":");
      return finals.find((final) => final.type === type) ?? { type, reason, status: "True" };
    });
    const suspend = reported.some((condition) => condition.type === "Suspended");
    const metadata = { name: rest.case, ...job?.metadata, uid: "job-uid" };
    return {
      at: ms,
      kind: "job",
      job: projectJob({ metadata, spec: { ...job?.spec, suspend }, status: { active, conditions: reported } }),
    };
  });
}

function podFacts({ pods, lastPodBeforeRemoval, podTransitions = [], ...rest }: Recorded, snapshots: readonly RawPod[]): Observation[] {
  const last = lastPodBeforeRemoval ?? pods.at(-1);
  if (last === undefined) return [];
  const metadata = {
    ...last.metadata,
    uid: "pod-uid",
    ownerReferences: [{ kind: "Job", controller: true, name: rest.case, uid: "job-uid" }],
  };
  const seen = (kind: "pod" | "pod-gone", ms: number, pod: Omit<RawPod, "metadata">, more: Raw = {}): Observation => ({
    ...({ kind, pod: projectPod({ ...pod, metadata: { ...metadata, ...more } }) } as Fact),
    at: ms,
  });
  const steps = podTransitions.map((step) => {
    if (step.deleted) return seen("pod-gone", step.ms, last);
    return seen("pod", step.ms, podAt(step, last, snapshots), step.deleting ? {} : { deletionTimestamp: undefined });
  });
  const gone = podTransitions.some((step) => step.deleted);
  return gone ? steps : [...steps, seen("pod", (podTransitions.at(-1)?.ms ?? 0) + 1, last)];
}

/** The pod at a step: what the step contains, and of the last object only what then was true already. */
function podAt(step: PodStep, last: RawPod, snapshots: readonly RawPod[]): Omit<RawPod, "metadata"> {
  const placed = step.container !== undefined || step.init !== undefined;
  const conditions = (last.status.conditions ?? []).filter(
    ({ type }) => type === "PodScheduled" || (type === "DisruptionTarget" && step.disruptionTarget !== undefined),
  );
  const statuses = (list: unknown, text: string | undefined, among: readonly RawPod[]) =>
    text === undefined ? [] : (list as readonly Raw[]).map((status) => ({ ...status, state: stateAt(text, among) }));
  return {
    spec: placed ? last.spec : { ...last.spec, nodeName: undefined },
    status: {
      ...(step.reason === undefined ? {} : { reason: step.reason, message: last.status.message }),
      phase: step.phase,
      conditions: placed || step.ms > 200 ? conditions : [],
      containerStatuses: statuses(last.status.containerStatuses, step.container, [last, ...snapshots]) as never,
      initContainerStatuses: statuses(last.status.initContainerStatuses ?? [], step.init, []),
    },
  };
}

/** `waiting:ErrImagePull`, `running`, `terminated:Error(3)`: with the recorded text where one of the objects has it. */
function stateAt(text: string, among: readonly RawPod[]): State {
  const [kind = "", rest = ""] = text.split(":");
  const [, reason = rest, code] = rest.match(/^(\w+)\((\d+)\)$/) ?? [];
  const states = among.flatMap((pod) => pod.status.containerStatuses ?? []).map((status) => status.state);
  const known = states.find((state) => state[kind] !== undefined && state[kind].reason === reason);
  return known ?? { [kind]: { ...(reason === "" ? {} : { reason }), ...(code === undefined ? {} : { exitCode: Number(code) }) } };
}

function eventFacts({ events = [], pods, lastPodBeforeRemoval, podTransitions = [] }: Recorded): Observation[] {
  const started = podTransitions.some(({ ms, container = "" }) => ms < EVENTS_MS && /^(running|terminated)/.test(container));
  const about = pods.length > 0 || lastPodBeforeRemoval ? "Pod" : "Job";
  const found = events.filter((event) => event.involvedObject.kind === about).map(projectEvent);
  return started || found.length === 0 ? [] : [{ at: EVENTS_MS, kind: "events", events: found }];
}
