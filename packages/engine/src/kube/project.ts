import type { ClaimView, Condition, ContainerState, ContainerView, EventView, JobView, PodView } from "./views.ts";

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

export function projectJob(raw: unknown): JobView {
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
    deadlineSeconds: count(object(spec).activeDeadlineSeconds) || null,
    image: textOrNull(list(object(object(object(spec).template).spec).containers)[0]?.image),
    conditions: Object.fromEntries(
      list(object(status).conditions)
        .filter((condition) => condition.status === "True")
        .map((condition) => [text(condition.type), conditionOf(condition)]),
    ),
  };
}

export function projectPod(raw: unknown): PodView {
  const { metadata, spec, status } = object(raw);
  const meta = object(metadata);
  const state = object(status);
  const owner = list(meta.ownerReferences).find((reference) => reference.kind === "Job" && reference.controller === true);
  const labels = object(meta.labels);
  return {
    name: text(meta.name),
    uid: text(meta.uid),
    jobName: text(owner?.name ?? labels["batch.kubernetes.io/job-name"] ?? labels["job-name"]),
    jobUid: text(owner?.uid ?? labels["batch.kubernetes.io/controller-uid"] ?? labels["controller-uid"]),
    node: textOrNull(object(spec).nodeName),
    createdAt: textOrNull(meta.creationTimestamp),
    deletedAt: textOrNull(meta.deletionTimestamp),
    phase: textOrNull(state.phase) ?? "Unknown",
    reason: textOrNull(state.reason),
    message: textOrNull(state.message),
    conditions: Object.fromEntries(
      list(state.conditions).map((condition) => [text(condition.type), { ...conditionOf(condition), status: text(condition.status) }]),
    ),
    containers: list(state.containerStatuses).map(containerOf),
    initContainers: list(state.initContainerStatuses).map(containerOf),
    resources: Object.fromEntries(list(object(spec).containers).map((container) => [text(container.name), resourcesOf(container)])),
    claims: list(object(spec).volumes).flatMap((volume) => textOrNull(object(volume.persistentVolumeClaim).claimName) ?? []),
  };
}

export function projectEvent(raw: unknown): EventView {
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

export function projectClaim(raw: unknown): ClaimView {
  const { metadata, spec, status } = object(raw);
  const modes = object(spec).accessModes;
  return {
    name: text(object(metadata).name),
    phase: textOrNull(object(status).phase) ?? "Unknown",
    accessModes: Array.isArray(modes) ? modes.map(text) : [],
    deletedAt: textOrNull(object(metadata).deletionTimestamp),
  };
}

function conditionOf(condition: Raw): Condition {
  return { reason: textOrNull(condition.reason), message: textOrNull(condition.message), at: textOrNull(condition.lastTransitionTime) };
}

function containerOf(status: Raw): ContainerView {
  return { name: text(status.name), image: text(status.image), state: stateOf(object(status.state)) };
}

function resourcesOf(container: Raw): Record<string, string> {
  const { requests, limits } = object(container.resources);
  const named = (kind: string, amounts: unknown) => Object.entries(texts(amounts)).map(([name, amount]) => [`${kind}.${name}`, amount]);
  return Object.fromEntries([...named("requests", requests), ...named("limits", limits)]);
}

/** By the API's definition a state with no member means waiting. */
function stateOf({ terminated, running, waiting }: Raw): ContainerState {
  if (terminated) {
    const end = object(terminated);
    return {
      kind: "terminated",
      // A missing code must not read as success.
      exitCode: typeof end.exitCode === "number" ? end.exitCode : -1,
      signal: typeof end.signal === "number" ? end.signal : null,
      reason: textOrNull(end.reason),
      message: textOrNull(end.message),
      startedAt: textOrNull(end.startedAt),
      finishedAt: textOrNull(end.finishedAt),
    };
  }
  if (running) return { kind: "running", startedAt: textOrNull(object(running).startedAt) };
  return { kind: "waiting", reason: textOrNull(object(waiting).reason), message: textOrNull(object(waiting).message) };
}

function texts(value: unknown, without?: string): Record<string, string> {
  const entries = Object.entries(object(value)).filter(([name, entry]) => name !== without && typeof entry === "string");
  return Object.fromEntries(entries) as Record<string, string>;
}
