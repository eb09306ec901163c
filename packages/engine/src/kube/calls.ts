import { ApiError, isNotFound } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import type { ApiRequest } from "./exchange.ts";
import { named, paths } from "./paths.ts";
import { type RetryOptions, sendRequest } from "./send-request.ts";
import {
  type ClaimView,
  type EventView,
  type JobView,
  object,
  type PodView,
  projectClaim,
  projectEvent,
  projectJob,
  projectPod,
  text,
} from "./views.ts";
import { listAll } from "./watch/list.ts";

export interface CallOptions extends Pick<ApiRequest, "signal" | "timeoutMs" | "priority"> {
  readonly retry?: RetryOptions;
}

/** Null = there is none. */
export function getJob(connection: Connection, namespace: string, name: string, options: CallOptions = {}): Promise<JobView | null> {
  const path = named(paths.jobs(namespace), name);
  return get(connection, path, options, (body) => jobOf(path, body, false));
}

const LOOK_AGAIN = { timeoutMs: 5000, retry: { attempts: 2 } } as const;

/** This very Job, by its name, where the watch does not show it; null = it is gone, whoever has its name now. */
export async function lookAgain(
  connection: Connection,
  namespace: string,
  { name, uid }: Pick<JobView, "name" | "uid">,
): Promise<JobView | null> {
  const job = await getJob(connection, namespace, name, LOOK_AGAIN);
  return job?.uid === uid ? job : null;
}

/** The same for a pod. */
export async function lookAgainAtPod(
  connection: Connection,
  namespace: string,
  { name, uid }: Pick<PodView, "name" | "uid">,
): Promise<PodView | null> {
  const pod = await getPod(connection, namespace, name, LOOK_AGAIN);
  return pod?.uid === uid ? pod : null;
}

/** Null = there is none. Found by a list, which the account may make in any case. */
async function getPod(connection: Connection, namespace: string, name: string, options: CallOptions = {}): Promise<PodView | null> {
  const list = { path: paths.pods(namespace), fieldSelector: `metadata.name=${name}`, ...limits(options) };
  const { items } = await listAll(connection, list, projectPod, options.retry);
  return items.find((pod) => pod.name === name) ?? null;
}

/** Null = there is none. */
export function getClaim(connection: Connection, namespace: string, name: string, options: CallOptions = {}): Promise<ClaimView | null> {
  return get(connection, named(paths.claims(namespace), name), options, projectClaim);
}

export async function hasStorageClass(connection: Connection, name: string, options: CallOptions = {}): Promise<boolean> {
  return (await get(connection, named(paths.storageClasses, name), options, () => true)) ?? false;
}

async function get<V>(connection: Connection, path: string, options: CallOptions, project: (body: unknown) => V): Promise<V | null> {
  try {
    return project((await sendRequest(connection, { method: "GET", path, ...limits(options) }, options.retry)).body);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Events about one object, oldest first. */
export async function listEvents(connection: Connection, namespace: string, uid: string, options: CallOptions = {}): Promise<EventView[]> {
  const list = { path: paths.events(namespace), fieldSelector: `involvedObject.uid=${uid}`, ...limits(options) };
  const { items } = await listAll(connection, list, projectEvent, options.retry);
  return oldestFirst(items);
}

const oldestFirst = (events: EventView[]): EventView[] => events.sort((a, b) => Date.parse(a.at ?? "") - Date.parse(b.at ?? "") || 0);

/** About 1 MB: more would keep the server from other work while it is parsed. */
const MOST_EVENTS = 1000;

/** All events of a namespace, or all that are warnings, by the uid of what they are about, oldest first; null = there are more than are read at once. */
export async function listEventsByObject(
  connection: Connection,
  namespace: string,
  options: CallOptions & { readonly which?: "all" | "warnings" } = {},
): Promise<ReadonlyMap<string, readonly EventView[]> | null> {
  const query = { limit: MOST_EVENTS, ...(options.which === "warnings" && { fieldSelector: "type!=Normal" }) };
  const request = { method: "GET", path: paths.events(namespace), query, ...limits(options) } as const;
  const { body } = await sendRequest(connection, request, options.retry);
  const { items, metadata } = object(body);
  if (object(metadata).continue) return null;
  const found = new Map<string, EventView[]>();
  for (const raw of Array.isArray(items) ? items : []) {
    const uid = text(object(object(raw).involvedObject).uid);
    const events = found.get(uid) ?? [];
    events.push(projectEvent(raw));
    found.set(uid, events);
  }
  for (const events of found.values()) oldestFirst(events);
  return found;
}

export const limits = ({ signal, timeoutMs, priority }: CallOptions) => ({ signal, timeoutMs, priority });

/** Projection accepts anything, so the 200 of a proxy would pass for a Job. */
export function jobOf(path: string, body: unknown, maybeApplied: boolean): JobView {
  const job = projectJob(body);
  if (job.uid === "") throw new ApiError("api_bad_answer", `${path}: the answer is not a Job`, { maybeApplied });
  return job;
}
