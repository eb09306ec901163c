import { ApiError, isAlreadyExists, isConflict, isForbidden, isNotFound } from "./api-error.ts";
import { backoffMs } from "./backoff.ts";
import { sleep, systemClock } from "./clock.ts";
import type { Connection } from "./connection.ts";
import { listAll } from "./list.ts";
import { named, paths } from "./paths.ts";
import { projectEvent, projectJob, projectPod } from "./project.ts";
import { type RetryOptions, sendRequest } from "./request.ts";
import type { EventView, JobView, PodView } from "./views.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
}

/** `existing`: another create, or an earlier try of this one, was first; the caller compares the nonce. */
export type CreateJobResult = { readonly created: JobView } | { readonly existing: JobView };

/** Creates a Job. A lost answer is asked for again; the name decides who was first. */
export async function createJob(
  connection: Connection,
  namespace: string,
  manifest: object,
  options: CallOptions = {},
): Promise<CreateJobResult> {
  const path = paths.jobs(namespace);
  const name = nameOf(manifest);
  for (let round = 1; ; round++) {
    try {
      return { created: jobOf(path, await create(connection, path, manifest, options), true) };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await getJob(connection, namespace, name, options);
      if (existing) return { existing };
      // It went between the two requests, so the name is free again; if it may have been ours, somebody did not want it.
      if (round === 3 || error.maybeApplied) throw error;
    }
  }
}

/** `existing` with `maybeOurs`: an earlier try of this very create lost its answer. */
export type CreateSecretResult = { readonly created: true } | { readonly created: false; readonly maybeOurs: boolean };

export async function createSecret(
  connection: Connection,
  namespace: string,
  manifest: object,
  options: CallOptions = {},
): Promise<CreateSecretResult> {
  try {
    await create(connection, paths.secrets(namespace), manifest, options);
    return { created: true };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return { created: false, maybeOurs: error.maybeApplied };
  }
}

/** Null = there is none. */
export async function getJob(connection: Connection, namespace: string, name: string, options: CallOptions = {}): Promise<JobView | null> {
  try {
    const path = named(paths.jobs(namespace), name);
    return jobOf(path, (await sendRequest(connection, { method: "GET", path, ...limits(options) }, options.retry)).body, false);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

export async function listPods(connection: Connection, namespace: string, jobName: string, options: CallOptions = {}): Promise<PodView[]> {
  const pods: PodView[] = [];
  const list = { path: paths.pods(namespace), labelSelector: `batch.kubernetes.io/job-name=${jobName}`, ...limits(options) };
  await listAll(connection, list, (raw) => pods.push(projectPod(raw)), options.retry);
  return pods;
}

/** Events about one object, oldest first; null = not permitted, which costs the explanation and nothing else. */
export async function listEvents(
  connection: Connection,
  namespace: string,
  uid: string,
  options: CallOptions = {},
): Promise<EventView[] | null> {
  const events: EventView[] = [];
  const list = { path: paths.events(namespace), fieldSelector: `involvedObject.uid=${uid}`, ...limits(options) };
  try {
    await listAll(connection, list, (raw) => events.push(projectEvent(raw)), options.retry);
  } catch (error) {
    if (isForbidden(error)) return null;
    throw error;
  }
  return events.sort((a, b) => Date.parse(a.at ?? "") - Date.parse(b.at ?? "") || 0);
}

export interface DeleteOptions extends CallOptions {
  /** Only the object with this uid is deleted: a later one of the same name is somebody else's. */
  readonly uid: string;
  readonly gracePeriodSeconds?: number;
}

/** `gone`: there was none. `replaced`: the name belongs to another object by now. */
export type DeleteResult = "deleted" | "gone" | "replaced";

export type Propagation = "Background" | "Foreground" | "Orphan";

/** Foreground keeps the Job object, and so its name, until its pod is gone; Background only for a pod that is known to be over. */
export function deleteJob(
  connection: Connection,
  namespace: string,
  name: string,
  options: DeleteOptions & { readonly propagation: Propagation },
): Promise<DeleteResult> {
  return remove(connection, named(paths.jobs(namespace), name), options, { propagationPolicy: options.propagation });
}

export function deletePod(connection: Connection, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult> {
  return remove(connection, named(paths.pods(namespace), name), options, {});
}

export type JobPatch =
  | { readonly kind: "merge"; readonly patch: object }
  /** With a `test` operation it is a compare-and-swap: a failed test answers 422. */
  | { readonly kind: "json"; readonly patch: readonly JsonPatchOperation[] };

export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "test";
  readonly path: string;
  readonly value?: unknown;
}

export async function patchJob(
  connection: Connection,
  namespace: string,
  name: string,
  patch: JobPatch,
  options: CallOptions = {},
): Promise<JobView> {
  const contentType = patch.kind === "merge" ? "application/merge-patch+json" : "application/json-patch+json";
  const path = named(paths.jobs(namespace), name);
  const request = {
    method: "PATCH",
    path,
    body: patch.patch,
    contentType,
    idempotent: patch.kind === "merge",
    ...limits(options),
  } as const;
  return jobOf(path, (await sendRequest(connection, request, options.retry)).body, true);
}

/** A busy quota answers a create with a conflict although nothing exists: that one is simply tried again. */
async function create(connection: Connection, path: string, manifest: object, options: CallOptions): Promise<unknown> {
  const clock = options.retry?.clock ?? systemClock;
  for (let failures = 1; ; failures++) {
    try {
      const request = { method: "POST", path, body: manifest, idempotent: true, ...limits(options) } as const;
      return (await sendRequest(connection, request, options.retry)).body;
    } catch (error) {
      if (!isConflict(error) || failures === 5) throw error;
      await sleep(clock, backoffMs({ minMs: 50, maxMs: 1_000 }, failures, options.retry?.random ?? Math.random), options.signal, true);
    }
  }
}

async function remove(connection: Connection, path: string, options: DeleteOptions, extra: object): Promise<DeleteResult> {
  const { uid, gracePeriodSeconds } = options;
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid }, gracePeriodSeconds, ...extra };
  try {
    await sendRequest(connection, { method: "DELETE", path, body, idempotent: true, ...limits(options) }, options.retry);
    return "deleted";
  } catch (error) {
    if (isNotFound(error)) return "gone";
    if (isConflict(error) && /uid/i.test(error.message) && /precondition/i.test(error.message)) return "replaced";
    throw error;
  }
}

const limits = ({ signal, timeoutMs }: CallOptions) => ({ signal, timeoutMs });

/** Projection forgives everything, so somebody else's 200 would pass for a Job. */
function jobOf(path: string, body: unknown, maybeApplied: boolean): JobView {
  const job = projectJob(body);
  if (job.uid === "") throw new ApiError("api_bad_answer", `${path}: the answer is not a Job`, { maybeApplied });
  return job;
}

function nameOf(manifest: object): string {
  const name = (manifest as { metadata?: { name?: unknown } }).metadata?.name;
  if (typeof name !== "string" || name === "") throw new ApiError("api_config", "the manifest has no metadata.name");
  return name;
}
