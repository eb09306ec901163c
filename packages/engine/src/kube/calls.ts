import { ApiError, isNotFound } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import type { Turn } from "./pace.ts";
import { named, paths } from "./paths.ts";
import { projectClaim, projectEvent, projectJob } from "./project.ts";
import { type RetryOptions, sendRequest } from "./send-request.ts";
import type { ClaimView, EventView, JobView } from "./views.ts";
import { listAll } from "./watch/list.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
  readonly turn?: Turn;
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

export const limits = ({ signal, timeoutMs, turn }: CallOptions) => ({ signal, timeoutMs, turn });

/** Projection accepts anything, so the 200 of a proxy would pass for a Job. */
export function jobOf(path: string, body: unknown, maybeApplied: boolean): JobView {
  const job = projectJob(body);
  if (job.uid === "") throw new ApiError("api_bad_answer", `${path}: the answer is not a Job`, { maybeApplied });
  return job;
}
