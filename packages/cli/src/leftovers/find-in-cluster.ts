import { type ConnectOptions, listSecrets, removeJob, removePod, removeSecret } from "@paperclip-k8s/engine";
import { SELECTOR } from "@paperclip-k8s/paperclip/keys";
import { unlessForbidden } from "../cluster/access.ts";
import { type FoundJob, findJobsIn, type LookedAt } from "../cluster/jobs.ts";
import { decideJob, decidePod, decideSecret, hasSecret, type Span, sinceOf } from "./decision.ts";
import type { Item } from "./item.ts";

interface InCluster {
  readonly jobs: readonly FoundJob[];
  readonly items: readonly Item[];
  /** What could not be looked at, for people. */
  readonly unseen: readonly string[];
}

/** Secrets first: one whose Job is not in the list that follows has none any more. */
export async function findInCluster(looked: LookedAt, namespaces: readonly string[], span: Span): Promise<InCluster> {
  const parts = await Promise.all(namespaces.map((namespace) => findIn(looked, namespace, span)));
  return {
    jobs: parts.flatMap(({ jobs }) => jobs),
    items: parts.flatMap(({ items }) => items),
    unseen: parts.flatMap(({ unseen }) => unseen),
  };
}

async function findIn(looked: LookedAt, namespace: string, span: Span): Promise<InCluster> {
  const { cluster } = looked;
  const secrets = await listSecrets(cluster, namespace, SELECTOR).catch(unlessForbidden);
  const { found: jobs, pods } = await findJobsIn(looked, namespace);
  const unseen = secrets === null ? [`Secrets in ${namespace} are not looked at: this account may not list them`] : [];
  const ofJobs = jobs.flatMap((found): Item[] => {
    const decision = decideJob(found, secrets, span);
    const { job } = found;
    if (decision === null) return [];
    const remove = () => removeFound(cluster, found);
    return [{ kind: "job", name: `${namespace}/${job.name}`, since: sinceOf(job), bytes: null, decision, remove }];
  });
  const views = jobs.map(({ job }) => job);
  const ofPods = pods.flatMap((pod): Item[] => {
    const decision = decidePod(pod, views, span);
    if (decision === null) return [];
    const remove = () => removePod(cluster, namespace, pod);
    return [{ kind: "pod", name: `${namespace}/${pod.name}`, since: pod.createdAt, bytes: null, decision, remove }];
  });
  const ofSecrets = (secrets ?? []).flatMap((secret): Item[] => {
    const decision = decideSecret(secret, views, pods, span);
    if (decision === null) return [];
    const remove = () => removeSecret(cluster, namespace, secret);
    return [{ kind: "secret", name: `${namespace}/${secret.name}`, since: secret.createdAt, bytes: null, decision, remove }];
  });
  return { jobs, items: [...ofJobs, ...ofPods, ...ofSecrets], unseen };
}

/** A Job that waits for its Secret is asked about once more: its server may have come back. */
async function removeFound(cluster: ConnectOptions, { namespace, job, state }: FoundJob): ReturnType<typeof removeJob> {
  const waits = state.kind === "alive";
  if (waits && hasSecret(job, await listSecrets(cluster, namespace, SELECTOR))) return "changed";
  return removeJob(cluster, namespace, job);
}
