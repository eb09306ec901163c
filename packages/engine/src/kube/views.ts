// What the engine keeps of the cluster's objects: a parsed Pod costs 24 KiB, its view half of one.
// Answers are foreign data: every field may be missing or of another type.
export type Raw = Readonly<Record<string, unknown>>;

export const object = (value: unknown): Raw => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : {});
export const list = (value: unknown): readonly Raw[] => (Array.isArray(value) ? value.map(object) : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const textOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const count = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Identity of any API object; null = not one. */
export function identify(raw: unknown): { readonly uid: string; readonly resourceVersion: string } | null {
  const { uid, resourceVersion } = object(object(raw).metadata);
  return typeof uid === "string" && typeof resourceVersion === "string" ? { uid, resourceVersion } : null;
}

export type JobView = Readonly<ReturnType<typeof projectJob>>;

export function projectJob(raw: unknown) {
  const { metadata, spec, status } = object(raw);
  const meta = object(metadata);
  return {
    name: text(meta.name),
    uid: text(meta.uid),
    resourceVersion: text(meta.resourceVersion),
    labels: texts(meta.labels),
    annotations: texts(meta.annotations, "kubectl.kubernetes.io/last-applied-configuration"),
    createdAt: textOrNull(meta.creationTimestamp),
    deletedAt: textOrNull(meta.deletionTimestamp),
    active: count(object(status).active),
    suspended: object(spec).suspend === true,
    /** Null = it may run for ever. */
    deadlineSeconds: count(object(spec).activeDeadlineSeconds) || null,
    /** Of its first container. */
    image: textOrNull(list(object(object(object(spec).template).spec).containers)[0]?.image),
    /** Conditions with status True, by type. */
    conditions: Object.fromEntries(
      list(object(status).conditions)
        .filter((condition) => condition.status === "True")
        .map((condition) => [text(condition.type), conditionOf(condition)]),
    ),
  };
}

export function isFinished({ conditions }: Pick<JobView, "conditions">): boolean {
  return "Complete" in conditions || "Failed" in conditions;
}

export type PodView = Readonly<ReturnType<typeof projectPod>>;

export function projectPod(raw: unknown) {
  const { metadata, spec, status } = object(raw);
  const meta = object(metadata);
  const state = object(status);
  const owner = list(meta.ownerReferences).find((reference) => reference.kind === "Job" && reference.controller === true);
  const labels = object(meta.labels);
  return {
    name: text(meta.name),
    uid: text(meta.uid),
    /** Name and uid of the Job that owns it. */
    jobName: text(owner?.name ?? labels["batch.kubernetes.io/job-name"] ?? labels["job-name"]),
    jobUid: text(owner?.uid ?? labels["batch.kubernetes.io/controller-uid"] ?? labels["controller-uid"]),
    node: textOrNull(object(spec).nodeName),
    createdAt: textOrNull(meta.creationTimestamp),
    deletedAt: textOrNull(meta.deletionTimestamp),
    phase: textOrNull(state.phase) ?? "Unknown",
    /** Evicted, DeadlineExceeded, NodeLost. */
    reason: textOrNull(state.reason),
    message: textOrNull(state.message),
    /** All conditions by type, with their status. */
    conditions: Object.fromEntries(
      list(state.conditions).map((condition) => [text(condition.type), { ...conditionOf(condition), status: text(condition.status) }]),
    ),
    containers: list(state.containerStatuses).map(containerOf),
    initContainers: list(state.initContainerStatuses).map(containerOf),
    /** By container name, then by field: `{ agent: { "limits.memory": "512Mi" } }`. */
    resources: Object.fromEntries(list(object(spec).containers).map((container) => [text(container.name), resourcesOf(container)])),
    /** Names of the claims it mounts. */
    claims: list(object(spec).volumes).flatMap((volume) => textOrNull(object(volume.persistentVolumeClaim).claimName) ?? []),
  };
}

export type EventView = Readonly<ReturnType<typeof projectEvent>>;

export function projectEvent(raw: unknown) {
  const event = object(raw);
  const series = object(event.series);
  return {
    type: text(event.type),
    reason: text(event.reason),
    message: text(event.message),
    count: count(event.count) || count(series.count) || 1,
    at:
      textOrNull(series.lastObservedTime) ??
      textOrNull(event.lastTimestamp) ??
      textOrNull(event.eventTime) ??
      textOrNull(event.firstTimestamp),
  };
}

export type ClaimView = Readonly<ReturnType<typeof projectClaim>>;

export function projectClaim(raw: unknown) {
  const { metadata, spec, status } = object(raw);
  const modes = object(spec).accessModes;
  return {
    name: text(object(metadata).name),
    /** Bound, Pending, Lost. */
    phase: textOrNull(object(status).phase) ?? "Unknown",
    accessModes: Array.isArray(modes) ? modes.map(text) : [],
    deletedAt: textOrNull(object(metadata).deletionTimestamp),
  };
}

function conditionOf(condition: Raw) {
  return { reason: textOrNull(condition.reason), message: textOrNull(condition.message), at: textOrNull(condition.lastTransitionTime) };
}

export type ContainerView = Readonly<ReturnType<typeof containerOf>>;

function containerOf(status: Raw) {
  return { name: text(status.name), image: text(status.image), imageId: textOrNull(status.imageID), state: stateOf(object(status.state)) };
}

function resourcesOf(container: Raw): Record<string, string> {
  const { requests, limits } = object(container.resources);
  const named = (kind: string, amounts: unknown) => Object.entries(texts(amounts)).map(([name, amount]) => [`${kind}.${name}`, amount]);
  return Object.fromEntries([...named("requests", requests), ...named("limits", limits)]);
}

export type ContainerState = Readonly<ReturnType<typeof stateOf>>;

/** By the API's definition a state with no member means waiting. */
function stateOf({ terminated, running, waiting }: Raw) {
  if (terminated) {
    const end = object(terminated);
    return {
      kind: "terminated" as const,
      // A missing code must not read as success.
      exitCode: typeof end.exitCode === "number" ? end.exitCode : -1,
      signal: typeof end.signal === "number" ? end.signal : null,
      reason: textOrNull(end.reason),
      message: textOrNull(end.message),
      startedAt: textOrNull(end.startedAt),
      finishedAt: textOrNull(end.finishedAt),
    };
  }
  if (running) return { kind: "running" as const, startedAt: textOrNull(object(running).startedAt) };
  return { kind: "waiting" as const, reason: textOrNull(object(waiting).reason), message: textOrNull(object(waiting).message) };
}

function texts(value: unknown, without?: string): Record<string, string> {
  const entries = Object.entries(object(value)).filter(([name, entry]) => name !== without && typeof entry === "string");
  return Object.fromEntries(entries) as Record<string, string>;
}

/** What a watch of the cluster can report about one Job. */
export type ClusterFact =
  | { readonly kind: "job"; readonly job: JobView }
  /** The API server says that the Job object is not there (any more). */
  | { readonly kind: "job-gone" }
  | { readonly kind: "pod"; readonly pod: PodView }
  | { readonly kind: "pod-gone"; readonly pod: PodView }
  /** The API server cannot be reached, does not answer or refuses, or is back: a fact of its own, never "gone". `forPeople`: the error can be logged as it is. */
  | { readonly kind: "api-lost"; readonly error: string; readonly forPeople?: boolean }
  | { readonly kind: "api-back" };
