import { isInvalid, isNotFound } from "./api-error.ts";
import { type CallOptions, jobOf, limits } from "./calls.ts";
import type { Connection } from "./connection.ts";
import { named, paths } from "./paths.ts";
import { sendRequest } from "./request.ts";
import type { JobView } from "./views.ts";

/** A Job changes hands: label and annotation `key` go from one run to another. */
export interface JobClaim {
  readonly uid: string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
  /** `to` as a label can hold it. */
  readonly label: string;
  /** Further annotations. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Compare-and-swap: only if it is still that Job and still that run's. Null = it is not any more. */
export async function claimJob(
  connection: Connection,
  namespace: string,
  name: string,
  claim: JobClaim,
  options: CallOptions = {},
): Promise<JobView | null> {
  const annotation = (key: string) => `/metadata/annotations/${pointer(key)}`;
  // A Job's resourceVersion moves by its status alone, so what is compared is what matters.
  const body = [
    { op: "test", path: "/metadata/uid", value: claim.uid },
    { op: "test", path: annotation(claim.key), value: claim.from },
    { op: "replace", path: annotation(claim.key), value: claim.to },
    { op: "add", path: `/metadata/labels/${pointer(claim.key)}`, value: claim.label },
    ...Object.entries(claim.annotations).map(([key, value]) => ({ op: "add", path: annotation(key), value })),
  ];
  const path = named(paths.jobs(namespace), name);
  try {
    return jobOf(path, await patch(connection, path, body, "application/json-patch+json", options), true);
  } catch (error) {
    // 422: a test failed.
    if (isInvalid(error) || isNotFound(error)) return null;
    throw error;
  }
}

/** False = there is none of that name. */
export async function patchSecret(
  connection: Connection,
  namespace: string,
  name: string,
  change: { readonly labels: Readonly<Record<string, string>>; readonly data: Readonly<Record<string, string>> },
  options: CallOptions = {},
): Promise<boolean> {
  return merge(connection, named(paths.secrets(namespace), name), { metadata: { labels: change.labels }, data: change.data }, options);
}

/** False = there is none of that name, or it is another's. */
export async function labelPod(
  connection: Connection,
  namespace: string,
  pod: { readonly name: string; readonly uid: string },
  labels: Readonly<Record<string, string>>,
  options: CallOptions = {},
): Promise<boolean> {
  return merge(connection, named(paths.pods(namespace), pod.name), { metadata: { uid: pod.uid, labels } }, options);
}

async function merge(connection: Connection, path: string, body: object, options: CallOptions): Promise<boolean> {
  try {
    await patch(connection, path, body, "application/merge-patch+json", options);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function patch(connection: Connection, path: string, body: unknown, contentType: string, options: CallOptions): Promise<unknown> {
  const request = { method: "PATCH", path, body, contentType, idempotent: true, ...limits(options) } as const;
  return (await sendRequest(connection, request, options.retry)).body;
}

/** A key as a step of a JSON pointer. */
const pointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
