import { systemClock } from "../clock.ts";
import { ApiError, isAlreadyExists, isConflict, isNotFound } from "./api-error.ts";
import { backoffMs } from "./backoff.ts";
import type { Connection } from "./connection.ts";
import type { Turn } from "./pace.ts";
import { named, paths } from "./paths.ts";
import { projectClaim, projectEvent, projectJob } from "./project.ts";
import { type RetryOptions, sendRequest } from "./request.ts";
import type { ClaimView, EventView, JobView } from "./views.ts";
import { listAll } from "./watch/list.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
  readonly turn?: Turn;
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
      const existing = await getJob(connection, namespace, name, options).catch((cause: unknown) => {
        // Who holds the name is not known, and it may be our own earlier try.
        throw error.maybeApplied && cause instanceof ApiError ? cause.afterLostAnswer() : cause;
      });
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

/** What the API server would answer to this create, made without making anything: throws its refusal, or returns its warnings. */
export async function tryJob(
  connection: Connection,
  namespace: string,
  manifest: object,
  options: CallOptions = {},
): Promise<readonly string[]> {
  const query = { dryRun: "All", fieldValidation: "Warn" };
  const request = { method: "POST", path: paths.jobs(namespace), query, body: manifest, idempotent: true, ...limits(options) } as const;
  return (await sendRequest(connection, request, options.retry)).warnings;
}

/** Null = there is none. */
export async function getClaim(
  connection: Connection,
  namespace: string,
  name: string,
  options: CallOptions = {},
): Promise<ClaimView | null> {
  try {
    const path = named(paths.claims(namespace), name);
    return projectClaim((await sendRequest(connection, { method: "GET", path, ...limits(options) }, options.retry)).body);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** False = one of that name is there already. */
export async function createClaim(
  connection: Connection,
  namespace: string,
  manifest: object,
  options: CallOptions = {},
): Promise<boolean> {
  try {
    await create(connection, paths.claims(namespace), manifest, options);
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return false;
  }
}

/** As `tryJob`, for a claim. */
export async function tryClaim(connection: Connection, namespace: string, manifest: object, options: CallOptions = {}): Promise<void> {
  const query = { dryRun: "All" };
  const request = { method: "POST", path: paths.claims(namespace), query, body: manifest, idempotent: true, ...limits(options) } as const;
  await sendRequest(connection, request, options.retry);
}

export async function hasStorageClass(connection: Connection, name: string, options: CallOptions = {}): Promise<boolean> {
  try {
    await sendRequest(connection, { method: "GET", path: named(paths.storageClasses, name), ...limits(options) }, options.retry);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Events about one object, oldest first. */
export async function listEvents(connection: Connection, namespace: string, uid: string, options: CallOptions = {}): Promise<EventView[]> {
  const events: EventView[] = [];
  const list = { path: paths.events(namespace), fieldSelector: `involvedObject.uid=${uid}`, ...limits(options) };
  await listAll(connection, list, (raw) => events.push(projectEvent(raw)), options.retry);
  return events.sort((a, b) => Date.parse(a.at ?? "") - Date.parse(b.at ?? "") || 0);
}

export interface DeleteOptions extends CallOptions {
  /** Only the object with this uid is deleted: a later one of the same name is somebody else's. */
  readonly uid: string;
  /** Only as it was when it was last seen: whatever changed meanwhile may be a reason to keep it. */
  readonly resourceVersion?: string;
  readonly propagation: Propagation;
}

/** `gone`: there was none. `replaced`: the name belongs to another object by now. `changed`: it is not as it was. */
export type DeleteResult = "deleted" | "gone" | "replaced" | "changed";

export type Propagation = "Background" | "Foreground" | "Orphan";

/** Foreground keeps the Job object, and so its name, until its pod is gone; Background only for a pod that is known to be over. */
export function deleteJob(connection: Connection, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult> {
  return remove(connection, named(paths.jobs(namespace), name), options);
}

export function deleteSecret(connection: Connection, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult> {
  return remove(connection, named(paths.secrets(namespace), name), options);
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
      await clock.sleep(backoffMs({ minMs: 50, maxMs: 1_000 }, failures, options.retry?.random ?? Math.random), options.signal);
      options.signal?.throwIfAborted();
    }
  }
}

async function remove(connection: Connection, path: string, options: DeleteOptions): Promise<DeleteResult> {
  const { uid, resourceVersion, propagation: propagationPolicy } = options;
  const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions, propagationPolicy };
  try {
    await sendRequest(connection, { method: "DELETE", path, body, idempotent: true, ...limits(options) }, options.retry);
    return "deleted";
  } catch (error) {
    if (isNotFound(error)) return "gone";
    if (isConflict(error) && /precondition/i.test(error.message)) {
      // Two layers of the API server word it, each in its way.
      if (/uid in (the )?precondition/i.test(error.message)) return "replaced";
      if (/resourceversion in (the )?precondition/i.test(error.message)) return "changed";
    }
    throw error;
  }
}

export const limits = ({ signal, timeoutMs, turn }: CallOptions) => ({ signal, timeoutMs, turn });

/** Projection forgives everything, so somebody else's 200 would pass for a Job. */
export function jobOf(path: string, body: unknown, maybeApplied: boolean): JobView {
  const job = projectJob(body);
  if (job.uid === "") throw new ApiError("api_bad_answer", `${path}: the answer is not a Job`, { maybeApplied });
  return job;
}

function nameOf(manifest: object): string {
  const name = (manifest as { metadata?: { name?: unknown } }).metadata?.name;
  if (typeof name !== "string" || name === "") throw new ApiError("api_config", "the manifest has no metadata.name");
  return name;
}
