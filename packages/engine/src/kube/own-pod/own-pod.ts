import { systemClock, type Timers } from "../../clock.ts";
import { ApiError, isForbidden, isNotFound, isTransient } from "../api-error.ts";
import { type Connection, connect } from "../connection.ts";
import { type ConnectOptions, contextNamespace } from "../credentials.ts";
import { named, paths } from "../paths.ts";
import { type RetryOptions, sendRequest } from "../send-request.ts";
import { type OwnPod, projectOwnPod } from "./project-own-pod.ts";

interface OwnPodIdentity {
  readonly namespace: string;
  readonly podName: string;
}

/** Which pod this process runs in; null = none. Without the downward API the name is the host's, which is the pod's name by default. */
export async function ownPodIdentity(env: NodeJS.ProcessEnv, mountedNamespace = accountNamespace): Promise<OwnPodIdentity | null> {
  const isNamed = env.POD_NAME !== undefined && env.POD_NAMESPACE !== undefined;
  // A host name alone proves nothing: every machine has one.
  if (!isNamed && !env.KUBERNETES_SERVICE_HOST) return null;
  const podName = given(env.POD_NAME) ?? given(env.HOSTNAME);
  if (podName === null) return null;
  const namespace = given(env.POD_NAMESPACE) ?? given(await mountedNamespace());
  return namespace === null ? null : { namespace, podName };
}

const given = (value: string | null | undefined): string | null => value?.trim() || null;

/** Of the pod's service account, as it is mounted. */
const accountNamespace = (): Promise<string | null> => contextNamespace({ kubeconfig: null }).catch(() => null);

interface OwnPodQuery extends OwnPodIdentity {
  /** Names this process's container may have; a pod's only container needs none. */
  readonly containers: readonly string[];
}

/** No signal: runs share the answer, and one that is cancelled must not take it from the others. */
interface ReadOwnPodOptions {
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
  readonly clock?: Timers;
}

type OwnPodErrorCode = "own_pod_forbidden" | "own_pod_not_found" | "own_pod_container_unknown";

/** The pod this process runs in is not known; the message contains what to do. */
export class OwnPodError extends Error {
  override readonly name = "OwnPodError";
  readonly code: OwnPodErrorCode;

  constructor(code: OwnPodErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** A pod's spec hardly changes while its containers run: runs share one request a minute. */
const FRESH_MS = 60_000;

interface Known {
  readonly at: number;
  readonly answer: Promise<OwnPod>;
}

const known = new WeakMap<Connection, Map<string, Known>>();

/** This process's own pod as plain data. */
export function readOwnPod(connection: Connection, query: OwnPodQuery, options: ReadOwnPodOptions = {}): Promise<OwnPod> {
  const now = (options.clock ?? systemClock).now();
  const answers = known.get(connection) ?? new Map<string, Known>();
  known.set(connection, answers);
  const key = JSON.stringify([query.namespace, query.podName, query.containers]);
  const before = answers.get(key);
  if (before && now - before.at < FRESH_MS) return before.answer;
  const answer = fetchOwnPod(connection, query, options).catch((error: unknown) => {
    // That it may not be read, or is not there, is an answer too; a failed request is not.
    if (error instanceof OwnPodError) throw error;
    answers.delete(key);
    if (!before || !isTransient(error)) throw error;
    // What was true a minute ago is better than nothing.
    answers.set(key, before);
    return before.answer;
  });
  answers.set(key, { at: now, answer });
  return answer;
}

async function fetchOwnPod(connection: Connection, query: OwnPodQuery, options: ReadOwnPodOptions): Promise<OwnPod> {
  const path = named(paths.pods(query.namespace), query.podName);
  const raw = await sendRequest(connection, { method: "GET", path, timeoutMs: options.timeoutMs }, options.retry).catch(
    (error: unknown) => {
      throw explained(error, query);
    },
  );
  const found = projectOwnPod(raw.body, query.containers);
  if ("pod" in found) return found.pod;
  if (found.containers.length === 0) throw new ApiError("api_bad_answer", `${path}: the answer is not a Pod`);
  const wanted = query.containers.length === 0 ? "none was named" : `none is named ${query.containers.join(" or ")}`;
  const message = `pod ${query.namespace}/${query.podName} has the containers ${found.containers.join(", ")}; ${wanted}: name the one of this process`;
  throw new OwnPodError("own_pod_container_unknown", message);
}

function explained(error: unknown, { namespace, podName }: OwnPodIdentity): unknown {
  if (isForbidden(error)) {
    const message = `pod ${namespace}/${podName}, in which this process runs, may not be read: grant "get" on "pods" in namespace ${namespace}`;
    return new OwnPodError("own_pod_forbidden", message, error);
  }
  if (!isNotFound(error)) return error;
  const message = `there is no pod ${namespace}/${podName}: set POD_NAME and POD_NAMESPACE from metadata.name and metadata.namespace`;
  return new OwnPodError("own_pod_not_found", message, error);
}

type OwnPodLookup = { readonly pod: OwnPod } | { readonly pod: null; readonly why: string };

interface FindOwnPodOptions extends ReadOwnPodOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly containers: readonly string[];
}

/** The pod of this process, or why it is not known, which explicit settings can make up for. Errors of the API server are thrown. */
export async function findOwnPod(cluster: ConnectOptions, options: FindOwnPodOptions): Promise<OwnPodLookup> {
  const identity = await ownPodIdentity(options.env);
  if (identity === null) return { pod: null, why: "this process does not run in a pod" };
  try {
    return { pod: await readOwnPod(await connect(cluster), { ...identity, containers: options.containers }, options) };
  } catch (error) {
    if (!(error instanceof OwnPodError) || error.code === "own_pod_container_unknown") throw error;
    return { pod: null, why: error.message };
  }
}
