import { type ConnectOptions, connect } from "../kube/connection.ts";
import { paths } from "../kube/paths.ts";
import { projectJob, projectPod } from "../kube/project.ts";
import type { JobView, PodView } from "../kube/views.ts";
import { listAll } from "../kube/watch/list.ts";

/** All runs of a namespace as they stand, for somebody who looks from outside. */
export interface RunObjects {
  readonly namespace: string;
  readonly jobs: readonly JobView[];
  readonly pods: readonly PodView[];
}

const RETRY = { attempts: 3 };

/** Pods first: a Job without a pod in this answer then had none, rather than one that came in between. */
export async function listRuns(cluster: ConnectOptions, namespace: string, labelSelector: string): Promise<RunObjects> {
  const connection = await connect(cluster);
  const pods: PodView[] = [];
  const jobs: JobView[] = [];
  await listAll(connection, { path: paths.pods(namespace), labelSelector }, (raw) => pods.push(projectPod(raw)), RETRY);
  await listAll(connection, { path: paths.jobs(namespace), labelSelector }, (raw) => jobs.push(projectJob(raw)), RETRY);
  return { namespace, jobs, pods };
}

/** Jobs of all namespaces; throws where this account may not see them. */
export async function listJobsEverywhere(cluster: ConnectOptions, labelSelector: string): Promise<JobView[]> {
  const jobs: JobView[] = [];
  await listAll(await connect(cluster), { path: paths.allJobs, labelSelector }, (raw) => jobs.push(projectJob(raw)), RETRY);
  return jobs;
}
