import { type ConnectOptions, connect } from "../kube/connection.ts";
import { paths } from "../kube/paths.ts";
import { projectJob, projectPod } from "../kube/project.ts";
import type { JobView, PodView } from "../kube/views.ts";
import { listAll } from "../kube/watch/list.ts";
import { type DeleteResult, deleteJobAsSeen, deleteSecret } from "../kube/writes.ts";

// The objects of runs, for the operator's command line.

const RETRY = { attempts: 3 };

/** All runs of a namespace as they stand now. */
export interface RunObjects {
  readonly namespace: string;
  readonly jobs: readonly JobView[];
  readonly pods: readonly PodView[];
}

/** Pods first: a Job without a pod in this answer then had none, rather than one that was created in between. */
export async function listRuns(cluster: ConnectOptions, namespace: string, labelSelector: string): Promise<RunObjects> {
  const connection = await connect(cluster);
  const pods: PodView[] = [];
  const jobs: JobView[] = [];
  await listAll(connection, { path: paths.pods(namespace), labelSelector }, (raw) => pods.push(projectPod(raw)), RETRY);
  await listAll(connection, { path: paths.jobs(namespace), labelSelector }, (raw) => jobs.push(projectJob(raw)), RETRY);
  return { namespace, jobs, pods };
}

/** Jobs of all namespaces; throws where this account may not list them. */
export async function listJobsEverywhere(cluster: ConnectOptions, labelSelector: string): Promise<JobView[]> {
  const jobs: JobView[] = [];
  await listAll(await connect(cluster), { path: paths.allJobs, labelSelector }, (raw) => jobs.push(projectJob(raw)), RETRY);
  return jobs;
}

/** Deletes this very Job as it was seen, and what it owns with it; its name stays taken until its pod is gone. */
export async function removeJob(
  cluster: ConnectOptions,
  namespace: string,
  job: Pick<JobView, "name" | "uid" | "resourceVersion">,
): Promise<DeleteResult> {
  return deleteJobAsSeen(await connect(cluster), namespace, job);
}

/** A Secret without its data. */
export interface SecretView {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: string | null;
  readonly deletedAt: string | null;
  readonly ownerUids: readonly string[];
}

/** Asks for names and owners only: the data is not needed. */
const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

export async function listSecrets(cluster: ConnectOptions, namespace: string, labelSelector: string): Promise<SecretView[]> {
  const found: SecretView[] = [];
  const list = { path: paths.secrets(namespace), labelSelector, accept: METADATA };
  await listAll(await connect(cluster), list, (raw) => found.push(projectSecret(raw)), RETRY);
  return found;
}

interface RawSecret {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly uid?: string }[];
  };
}

function projectSecret(raw: unknown): SecretView {
  const { name = "", uid = "", creationTimestamp, deletionTimestamp, ownerReferences = [] } = (raw as RawSecret).metadata ?? {};
  const ownerUids = ownerReferences.flatMap((owner) => (owner.uid === undefined ? [] : [owner.uid]));
  return { name, uid, createdAt: creationTimestamp ?? null, deletedAt: deletionTimestamp ?? null, ownerUids };
}

/** Deletes this very Secret. */
export async function removeSecret(
  cluster: ConnectOptions,
  namespace: string,
  { name, uid }: Pick<SecretView, "name" | "uid">,
): Promise<DeleteResult> {
  return deleteSecret(await connect(cluster), namespace, name, uid);
}
