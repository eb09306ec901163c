import { type ConnectOptions, type JobView, listRuns, ownTermination, type PodView, readEnd, trustOf } from "@paperclip-k8s/engine";
import { ANNOTATION, SELECTOR } from "@paperclip-k8s/paperclip/keys";
import { type JobState, jobState, type RunFacts } from "./job-state.ts";

/** One Job of ours, with what is known about it. */
export interface FoundJob {
  readonly namespace: string;
  readonly job: JobView;
  readonly pods: readonly PodView[];
  /** The run it works for, and those it worked for before it was taken over. */
  readonly runIds: readonly string[];
  /** Started by our runner, so that its records can be believed. */
  readonly ours: boolean;
  readonly state: JobState;
}

/** Where Jobs are looked for, and the server's secret, which proves their records; null = it is not known here. */
export interface LookedAt {
  readonly cluster: ConnectOptions;
  readonly secret: Uint8Array | null;
}

/** Every Job of ours in these namespaces, newest first. */
export async function findJobs(looked: LookedAt, namespaces: readonly string[]): Promise<FoundJob[]> {
  const all = await Promise.all(namespaces.map((namespace) => findJobsIn(looked, namespace)));
  return all.flatMap(({ found }) => found).sort((a, b) => (b.job.createdAt ?? "").localeCompare(a.job.createdAt ?? ""));
}

/** One namespace, with its pods, those without a Job too. */
export async function findJobsIn(
  { cluster, secret }: LookedAt,
  namespace: string,
): Promise<{ found: FoundJob[]; pods: readonly PodView[] }> {
  const { jobs, pods } = await listRuns(cluster, namespace, SELECTOR);
  const podsOf = (job: JobView) => pods.filter(({ jobUid }) => jobUid === job.uid);
  return { found: await Promise.all(jobs.map((job) => describeJob(namespace, { job, pods: podsOf(job) }, secret))), pods };
}

/** The run it works for, and those it worked for before it was taken over. */
export function runIdsOf({ annotations }: Pick<JobView, "annotations">): string[] {
  const earlier = annotations[ANNOTATION.adoptedFrom]?.split(",") ?? [];
  return [annotations[ANNOTATION.runId], ...earlier, annotations[ANNOTATION.firstRun]].filter((id) => id !== undefined);
}

type Seen = Pick<FoundJob, "job" | "pods">;

async function describeJob(namespace: string, seen: Seen, secret: Uint8Array | null): Promise<FoundJob> {
  const { job, pods } = seen;
  const ours = job.annotations[ANNOTATION.runner] !== undefined;
  return { namespace, job, pods, runIds: runIdsOf(job), ours, state: jobState(await factsOf(seen, secret)) };
}

/** Records count only with the nonce of this Job, because its name may have been used before, and only signed ones if it signs them. */
async function factsOf({ job, pods }: Seen, secret: Uint8Array | null): Promise<RunFacts> {
  const { annotations } = job;
  const container = (annotations[ANNOTATION.adapterType] ?? "").replace(/_(k8s|local)$/, "");
  const nonce = annotations[ANNOTATION.nonce];
  const run = annotations[ANNOTATION.firstRun] ?? annotations[ANNOTATION.runId];
  const output = annotations[ANNOTATION.output];
  if (nonce === undefined || run === undefined) return { job, pods, container, endRecord: null, claimed: null, termination: null };
  const trust = trustOf(annotations[ANNOTATION.records], secret, { firstRun: run, nonce });
  const found = output === undefined ? null : await readEnd(output, { run, nonce, secret });
  const messages = pods.flatMap((pod) => pod.containers.map(({ state }) => (state.kind === "terminated" ? state.message : null)));
  const termination = messages.map((text) => ownTermination(text, nonce, trust)).find((message) => message !== null) ?? null;
  // An unsigned record may be anybody's, the termination message is the pod's own.
  const counts = found !== null && (trust.kind === "signed" ? found.proved : termination === null);
  return { job, pods, container, endRecord: counts ? found.record : null, claimed: counts ? null : (found?.record ?? null), termination };
}
