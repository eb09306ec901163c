import { type ConnectOptions, type JobView, listRuns, type PodView, parseTermination, readEnd } from "@paperclip-k8s/engine";
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

/** Every Job of ours in these namespaces, newest first. */
export async function findJobs(cluster: ConnectOptions, namespaces: readonly string[]): Promise<FoundJob[]> {
  const all = await Promise.all(namespaces.map((namespace) => findJobsIn(cluster, namespace)));
  return all.flatMap(({ found }) => found).sort((a, b) => (b.job.createdAt ?? "").localeCompare(a.job.createdAt ?? ""));
}

/** One namespace, with its pods, those without a Job too. */
export async function findJobsIn(cluster: ConnectOptions, namespace: string): Promise<{ found: FoundJob[]; pods: readonly PodView[] }> {
  const { jobs, pods } = await listRuns(cluster, namespace, SELECTOR);
  const podsOf = (job: JobView) => pods.filter(({ jobUid }) => jobUid === job.uid);
  return { found: await Promise.all(jobs.map((job) => describeJob(namespace, job, podsOf(job)))), pods };
}

/** The run it works for, and those it worked for before it was taken over. */
export function runIdsOf({ annotations }: Pick<JobView, "annotations">): string[] {
  const earlier = annotations[ANNOTATION.adoptedFrom]?.split(",") ?? [];
  return [annotations[ANNOTATION.runId], ...earlier, annotations[ANNOTATION.firstRun]].filter((id) => id !== undefined);
}

async function describeJob(namespace: string, job: JobView, pods: readonly PodView[]): Promise<FoundJob> {
  const ours = job.annotations[ANNOTATION.runner] !== undefined;
  return { namespace, job, pods, runIds: runIdsOf(job), ours, state: jobState(await factsOf(job, pods)) };
}

/** Records count only with the nonce of this Job, because its name may have been used before. */
async function factsOf(job: JobView, pods: readonly PodView[]): Promise<RunFacts> {
  const { annotations } = job;
  const container = (annotations[ANNOTATION.adapterType] ?? "").replace(/_k8s$/, "");
  const nonce = annotations[ANNOTATION.nonce];
  const run = annotations[ANNOTATION.firstRun] ?? annotations[ANNOTATION.runId];
  const output = annotations[ANNOTATION.output];
  if (nonce === undefined || run === undefined) return { job, pods, container, endRecord: null, termination: null };
  const endRecord = output === undefined ? null : await readEnd(output, { run, nonce });
  const messages = pods.flatMap((pod) => pod.containers.map(({ state }) => (state.kind === "terminated" ? state.message : null)));
  const termination = messages.map((text) => parseTermination(text, nonce)).find((message) => message !== null) ?? null;
  return { job, pods, container, endRecord, termination };
}
