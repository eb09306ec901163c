import { connect } from "../kube/connection.ts";
import type { ConnectOptions } from "../kube/credentials.ts";
import { paths } from "../kube/paths.ts";
import { type JobView, list, object, type PodView, projectJob, projectPod, text, textOrNull } from "../kube/views.ts";
import { listAll } from "../kube/watch/list.ts";
import { type DeleteResult, deleteJobAsSeen, deletePod, deleteSecret } from "../kube/writes.ts";

// The objects of runs, for the operator's command line.

const RETRY = { attempts: 3 };

/** All runs of a namespace as they stand now. Pods first: a Job without a pod in this answer then had none, rather than one created in between. */
export async function listRuns(cluster: ConnectOptions, namespace: string, labelSelector: string) {
  const connection = await connect(cluster);
  const pods = await listAll(connection, { path: paths.pods(namespace), labelSelector }, projectPod, RETRY);
  const jobs = await listAll(connection, { path: paths.jobs(namespace), labelSelector }, projectJob, RETRY);
  return { namespace, jobs: jobs.items, pods: pods.items };
}

/** Jobs of all namespaces; throws where this account may not list them. */
export async function listJobsEverywhere(cluster: ConnectOptions, labelSelector: string): Promise<JobView[]> {
  return (await listAll(await connect(cluster), { path: paths.allJobs, labelSelector }, projectJob, RETRY)).items;
}

/** Deletes this very Job as it was seen, and what it owns with it; its name stays taken until its pod is gone. */
export async function removeJob(cluster: ConnectOptions, namespace: string, job: JobView): Promise<DeleteResult> {
  return deleteJobAsSeen(await connect(cluster), namespace, job);
}

/** Deletes this very pod, which no Job owns any more. */
export async function removePod(cluster: ConnectOptions, namespace: string, pod: Pick<PodView, "name" | "uid">): Promise<DeleteResult> {
  return deletePod(await connect(cluster), namespace, pod.name, pod.uid);
}

/** A Secret without its data. */
export type SecretView = Readonly<ReturnType<typeof projectSecret>>;
type SecretIdentity = Pick<SecretView, "name" | "uid">;

/** Asks for names and owners only: the data is not needed. */
const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

export async function listSecrets(cluster: ConnectOptions, namespace: string, labelSelector: string): Promise<SecretView[]> {
  const request = { path: paths.secrets(namespace), labelSelector, accept: METADATA };
  return (await listAll(await connect(cluster), request, projectSecret, RETRY)).items;
}

function projectSecret(raw: unknown) {
  const { name, uid, creationTimestamp, deletionTimestamp, ownerReferences } = object(object(raw).metadata);
  return {
    name: text(name),
    uid: text(uid),
    createdAt: textOrNull(creationTimestamp),
    deletedAt: textOrNull(deletionTimestamp),
    ownerUids: list(ownerReferences).flatMap((owner) => textOrNull(owner.uid) ?? []),
  };
}

/** Deletes this very Secret. */
export async function removeSecret(cluster: ConnectOptions, namespace: string, secret: SecretIdentity): Promise<DeleteResult> {
  return deleteSecret(await connect(cluster), namespace, secret.name, secret.uid);
}
