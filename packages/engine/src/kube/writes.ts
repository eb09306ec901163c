import { systemClock } from "../clock.ts";
import { ApiError, isAlreadyExists, isConflict, isInvalid, isNotFound } from "./api-error.ts";
import { type CallOptions, getJob, jobOf, limits } from "./calls.ts";
import type { Connection } from "./connection.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { named, paths } from "./paths.ts";
import { backoffMs, sendRequest } from "./send-request.ts";
import { type JobView, object, type PodView, text } from "./views.ts";

// Every request that changes something in the cluster is made here, each with its preconditions. Nothing else sends a POST, PATCH or DELETE for an object.

/** `existing`: another create, or an earlier try of this one, was first; the caller compares the nonce. */
type CreateJobResult = { readonly created: JobView } | { readonly existing: JobView };

/** Creates a Job. A create whose answer was lost is sent again; the name decides who was first. */
export async function createJob(
  connection: Connection,
  namespace: string,
  manifest: object,
  options: CallOptions = {},
): Promise<CreateJobResult> {
  const path = paths.jobs(namespace);
  const name = text(object(object(manifest).metadata).name);
  for (let round = 1; ; round++) {
    try {
      return { created: jobOf(path, await create(connection, path, manifest, options), true) };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await getJob(connection, namespace, name, options).catch((cause: unknown) => {
        // The Job of that name may be the one that an earlier try of ours has made.
        throw error.maybeApplied && cause instanceof ApiError ? cause.afterLostAnswer() : cause;
      });
      if (existing) return { existing };
      // It went between the two requests, so the name is free again. If it may have been ours, somebody has deleted it on purpose.
      if (round === 3 || error.maybeApplied) throw error;
    }
  }
}

/** Creates an object of the collection `path`. False = one of that name is there already. */
export async function createUnlessThere(
  connection: Connection,
  path: string,
  manifest: object,
  options: CallOptions = {},
): Promise<boolean> {
  try {
    await create(connection, path, manifest, options);
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}

/** Creates a run's Secret, before the Jobs of other runs: the pod that needs it is being started already. False = it is there. */
export function createSecret(connection: Connection, namespace: string, manifest: object, options: CallOptions = {}): Promise<boolean> {
  return createUnlessThere(connection, paths.secrets(namespace), manifest, { ...options, priority: "first" });
}

/** Asks what the API server would answer to this create, without making anything: throws its error, or returns its warnings. */
export async function dryRun(connection: Connection, path: string, body: object, options: CallOptions = {}): Promise<readonly string[]> {
  const query = { dryRun: "All", fieldValidation: "Warn" };
  return (await send(connection, { method: "POST", path, query, body }, options)).warnings;
}

type Texts = Readonly<Record<string, string>>;

/** A Job changes its owner: label and annotation `key` go from one run to another. */
interface OwnerChange {
  readonly uid: string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
  /** `to` as a label can hold it. */
  readonly label: string;
  /** Further annotations. */
  readonly annotations: Texts;
}

/** Compare-and-swap: only if it is still that Job and still that run's. Null = it is not any more. */
export async function changeJobOwner(
  connection: Connection,
  namespace: string,
  name: string,
  change: OwnerChange,
  options: CallOptions = {},
): Promise<JobView | null> {
  const annotation = (key: string) => `/metadata/annotations/${pointer(key)}`;
  // Uid and owner are compared, not the resourceVersion, which every change of the Job's status moves.
  const body = [
    { op: "test", path: "/metadata/uid", value: change.uid },
    { op: "test", path: annotation(change.key), value: change.from },
    { op: "replace", path: annotation(change.key), value: change.to },
    { op: "add", path: `/metadata/labels/${pointer(change.key)}`, value: change.label },
    ...Object.entries(change.annotations).map(([key, value]) => ({ op: "add", path: annotation(key), value })),
  ];
  const path = named(paths.jobs(namespace), name);
  try {
    const request = { method: "PATCH", path, body, contentType: "application/json-patch+json" } as const;
    return jobOf(path, (await send(connection, request, options)).body, true);
  } catch (error) {
    // 422: a test failed.
    if (isInvalid(error) || isNotFound(error)) return null;
    throw error;
  }
}

/** False = there is none of that name. */
export function patchSecret(
  connection: Connection,
  namespace: string,
  name: string,
  { labels, data }: { readonly labels: Texts; readonly data: Texts },
  options: CallOptions = {},
): Promise<boolean> {
  return merge(connection, named(paths.secrets(namespace), name), { metadata: { labels }, data }, options);
}

/** False = there is none of that name. A pod of that name with another uid is an error. */
export function labelPod(
  connection: Connection,
  namespace: string,
  { name, uid }: Pick<PodView, "name" | "uid">,
  labels: Texts,
  options: CallOptions = {},
): Promise<boolean> {
  return merge(connection, named(paths.pods(namespace), name), { metadata: { uid, labels } }, options);
}

/** `Foreground` keeps the Job, and so its name, until its pod is gone; `Background` frees the name at once. */
export type Propagation = "Background" | "Foreground";

interface DeleteJobOptions extends CallOptions {
  /** The run that the Job belongs to, by the annotation `key`. */
  readonly owner: { readonly key: string; readonly runId: string | null };
  readonly propagation: Propagation;
  /**
   * Delete only the version whose owner was checked. False saves two requests while the Job's status changes, for a Job that nobody had the time to
   * take over since it was seen.
   */
  readonly exact?: boolean;
  /** A view that is newer than this version, if one comes soon: it saves a request where the view that was given is out of date. */
  readonly newer?: (version: string) => Promise<SeenJob | null>;
}

/** `gone`: there is none. `replaced`: the name belongs to another Job. `taken`: another run owns it now, so it was not deleted. */
export type DeleteJobResult = "deleted" | "gone" | "replaced" | { readonly taken: JobView };

/** A Job as it was last seen. */
type SeenJob = Pick<JobView, "name" | "uid" | "resourceVersion" | "annotations">;

const MAX_LOOKS = 5;

/** Deletes a run's Job, unless another run owns it. The owner is checked in the view that is given, and in a fresh one whenever that is out of date. */
export async function deleteJob(
  connection: Connection,
  namespace: string,
  seen: SeenJob,
  { owner, propagation, exact = true, newer, ...options }: DeleteJobOptions,
): Promise<DeleteJobResult> {
  const { name, uid } = seen;
  const path = named(paths.jobs(namespace), name);
  const isOwned = (job: SeenJob) => (job.annotations[owner.key] ?? null) === owner.runId;
  const deletion = { uid, propagation, ...options };
  if (isOwned(seen)) {
    const result = await remove(connection, path, { ...deletion, ...(exact ? { resourceVersion: seen.resourceVersion } : {}) });
    if (result !== "changed") return result;
  }
  const next = await newer?.(seen.resourceVersion);
  if (next && isOwned(next)) {
    const result = await remove(connection, path, { ...deletion, resourceVersion: next.resourceVersion });
    if (result !== "changed") return result;
  }
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const job = await getJob(connection, namespace, name, options);
    if (job === null) return "gone";
    if (job.uid !== uid) return "replaced";
    if (!isOwned(job)) return { taken: job };
    if (job.deletedAt !== null) return "deleted";
    const result = await remove(connection, path, { ...deletion, resourceVersion: job.resourceVersion });
    if (result !== "changed") return result;
  }
  throw new ApiError("api_status", `Job ${name} changes faster than it can be deleted`, { httpStatus: 409 });
}

/** `gone`: there was none. `replaced`: the name belongs to another object by now. `changed`: it is not as it was. */
export type DeleteResult = "deleted" | "gone" | "replaced" | "changed";

/** Deletes a Job only as it was seen when somebody decided about it: the decision does not hold for a Job that has changed, or changed its owner. */
export function deleteJobAsSeen(
  connection: Connection,
  namespace: string,
  seen: JobView,
  { propagation = "Foreground", ...options }: CallOptions & { readonly propagation?: Propagation } = {},
): Promise<DeleteResult> {
  const { name, uid, resourceVersion } = seen;
  return remove(connection, named(paths.jobs(namespace), name), { ...options, uid, resourceVersion, propagation });
}

export function deletePod(connection: Connection, namespace: string, name: string, uid: string): Promise<DeleteResult> {
  return remove(connection, named(paths.pods(namespace), name), { uid, propagation: "Background" });
}

export function deleteSecret(connection: Connection, namespace: string, name: string, uid: string): Promise<DeleteResult> {
  return remove(connection, named(paths.secrets(namespace), name), { uid, propagation: "Background" });
}

/** A busy quota answers a create with a conflict although nothing exists: then it is tried again. */
async function create(connection: Connection, path: string, manifest: object, options: CallOptions): Promise<unknown> {
  const { clock = systemClock, random = Math.random } = options.retry ?? {};
  for (let failures = 1; ; failures++) {
    try {
      return (await send(connection, { method: "POST", path, body: manifest }, options)).body;
    } catch (error) {
      if (!isConflict(error) || failures === 5) throw error;
      await clock.sleep(backoffMs({ minMs: 50, maxMs: 1_000 }, failures, random), options.signal);
      options.signal?.throwIfAborted();
    }
  }
}

async function merge(connection: Connection, path: string, body: object, options: CallOptions): Promise<boolean> {
  try {
    await send(connection, { method: "PATCH", path, body, contentType: "application/merge-patch+json" }, options);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

interface RemoveOptions extends CallOptions {
  /** Only the object with this uid is deleted: a later one of the same name is somebody else's. */
  readonly uid: string;
  /** Only this version is deleted: whatever changed since may be a reason to keep it. */
  readonly resourceVersion?: string;
  readonly propagation: Propagation;
}

async function remove(connection: Connection, path: string, options: RemoveOptions): Promise<DeleteResult> {
  const { uid, resourceVersion, propagation: propagationPolicy } = options;
  const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions, propagationPolicy };
  try {
    await send(connection, { method: "DELETE", path, body }, options);
    return "deleted";
  } catch (error) {
    if (isNotFound(error)) return "gone";
    // Two layers of the API server answer this, each in its own words.
    if (isConflict(error) && /uid in (the )?precondition/i.test(error.message)) return "replaced";
    if (isConflict(error) && /resourceversion in (the )?precondition/i.test(error.message)) return "changed";
    throw error;
  }
}

/** All of these may be sent twice: the name, the preconditions or the patch itself decide what a second one does. */
function send(connection: Connection, request: ApiRequest, options: CallOptions): Promise<ApiResponse<unknown>> {
  return sendRequest(connection, { ...request, idempotent: true, ...limits(options) }, options.retry);
}

/** A key as a step of a JSON pointer. */
const pointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
