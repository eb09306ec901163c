import { deleteJob, getJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import { podIsOver } from "../outcome/pod-facts.ts";
import { supersededBy } from "../outcome/superseded.ts";
import type { RunContext } from "../run-context.ts";

export interface RemoveOptions {
  /** Only as it was last seen, where there was time for others to take it over. Just after the end its status still changes, and each try would cost a request. */
  readonly asSeen: boolean;
  readonly withinMs: number;
  readonly attempts?: number;
}

/**
 * Deletes the run's Job, unless another run has taken it over.
 * Returns the run that has it; null = it is gone, or going.
 */
export async function deleteOwnJob(context: RunContext, uid: string, options: RemoveOptions): Promise<string | null> {
  const { connection, request, run } = context;
  const { pod, podGoneAt, identity } = run.state;
  const propagation = podGoneAt !== null || podIsOver(pod, identity.container) ? "Background" : "Foreground";
  const { asSeen, withinMs, attempts } = options;
  const limits = { signal: AbortSignal.timeout(withinMs), ...(attempts === undefined ? {} : { retry: { attempts } }) };
  let job = lastSeen(context, uid);
  for (;;) {
    const owner = job === null ? null : supersededBy(identity, job);
    if (owner !== null) return owner;
    const version = job === null || !asSeen ? {} : { resourceVersion: job.resourceVersion };
    const result = await deleteJob(connection, request.namespace, identity.jobName, { uid, propagation, ...version, ...limits });
    if (result !== "changed") return null;
    // Most often only its status has changed.
    job = await getJob(connection, request.namespace, identity.jobName, limits);
    if (job === null || job.uid !== uid || job.deletedAt !== null) return null;
  }
}

function lastSeen({ watch, run }: RunContext, uid: string): JobView | null {
  let job = run.state.job;
  const look = watch.subscribe(run.state.identity.jobName, (fact) => {
    if (fact.kind === "job" && fact.job.uid === uid) job = fact.job;
  });
  look.close();
  return job;
}
