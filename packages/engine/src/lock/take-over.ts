import { isForbidden } from "../kube/api-error.ts";
import type { JobView } from "../kube/views.ts";
import { changeJobOwner, deleteJob } from "../kube/writes.ts";
import { labelValue } from "../manifest/names.ts";
import { errorFacts, isCertainlyNotApplied, retryTransient } from "../retry.ts";
import { log, type RunContext } from "../run-context.ts";
import { type Adopted, conflictFacts, type Problem, problemEnd } from "./conflicting-jobs.ts";
import { isOver, readAnnotations } from "./ended-jobs.ts";
import { deleteOrphanLater, lookForJob } from "./failed-create.ts";
import { finishRenewal, renewCredentials } from "./renew-credentials.ts";

/** A change of the owner is not broken off by a cancel: whether it was made must be known. */
const CHANGE_TIMEOUT_MS = 5000;
/** How many former owners a Job's annotation names. */
const MAX_FORMER = 50;

/** `removed`: it had never started. `lost`: another run was first, or the Job is being deleted. `denied`: this account may not adopt. */
type AdoptResult = Adopted | Problem | { readonly kind: "removed" | "lost" | "denied" };

/** Adopts a Job: makes this run its owner, then writes this run's credentials into its Secret. */
export async function adopt(context: RunContext, conflict: JobView): Promise<AdoptResult> {
  const { request, run } = context;
  const known = readAnnotations(context, conflict);
  if (known === null) return problemEnd({ kind: "output-unknown", by: conflictFacts(context, conflict), root: request.output.root });
  const taken = await takeOwnership(context, conflict, known.fromRun);
  if (taken.kind !== "owned") return taken;
  const adoption = { job: taken.job, ...known };
  if (!isOver(context, taken.job)) {
    const renewal = await renewCredentials(context, adoption, run.timeouts.secretless);
    if (renewal === "never-started") return removeUnstarted(context, taken.job);
    void finishRenewal(context, adoption, renewal);
  }
  return { kind: "adopted", adoption };
}

type Ownership = { readonly kind: "owned"; readonly job: JobView } | Exclude<AdoptResult, Adopted>;

async function takeOwnership(context: RunContext, conflict: JobView, from: string): Promise<Ownership> {
  const { connection, request } = context;
  const { keys, runId } = request;
  const former = [...(conflict.annotations[keys.adoptedFrom]?.split(",") ?? []), from].slice(-MAX_FORMER);
  const change = {
    uid: conflict.uid,
    key: keys.runId,
    from,
    to: runId,
    label: labelValue(runId).value,
    annotations: from === runId ? {} : { [keys.adoptedFrom]: former.join(",") },
  };
  try {
    const changed = await retryTransient(context, `Job ${conflict.name} cannot be taken over`, () =>
      changeJobOwner(connection, request.namespace, conflict.name, change, { timeoutMs: CHANGE_TIMEOUT_MS }),
    );
    // The comparison also fails when an earlier try, whose answer was lost, has changed the owner.
    return ownership(changed ?? (await lookForJob(context, conflict.name, isOwned(context, conflict))));
  } catch (error) {
    if (!isForbidden(error)) return failedChange(context, conflict, error);
    log(context, "warning", `Job ${conflict.name} cannot be taken over: ${error.message}; waiting until it is gone`);
    return { kind: "denied" };
  }
}

const ownership = (job: JobView | null | "unknown"): Ownership =>
  job === null || job === "unknown" || job.deletedAt !== null ? { kind: "lost" } : { kind: "owned", job };

/** A change whose answer was lost may have been made: then this run must follow the Job, since nobody else does. */
async function failedChange(context: RunContext, conflict: JobView, error: unknown): Promise<Ownership> {
  const found = isCertainlyNotApplied(error) ? null : await lookForJob(context, conflict.name, isOwned(context, conflict));
  if (found !== null && found !== "unknown") return ownership(found);
  const unknown = found === "unknown";
  if (unknown && context.io.signal.aborted) void deleteOrphanLater(context, conflict.name, isOwned(context, conflict));
  return problemEnd({ kind: "takeover-failed", by: conflictFacts(context, conflict), unknown, error: errorFacts(error) });
}

/** Whether this run owns the Job already. */
const isOwned =
  ({ request }: RunContext, { uid }: JobView) =>
  (job: JobView): boolean =>
    job.uid === uid && job.annotations[request.keys.runId] === request.runId;

/** Without its Secret no pod of it can have started. */
async function removeUnstarted(context: RunContext, job: JobView): Promise<AdoptResult> {
  const { connection, request, leaving } = context;
  log(context, "warning", `removing Job ${job.name}, which never got its Secret and so has not started`);
  const owner = { key: request.keys.runId, runId: request.runId };
  const remove = () => deleteJob(connection, request.namespace, job, { owner, propagation: "Foreground", signal: leaving });
  return (await removeConflict(context, job.name, false, remove)) ?? { kind: "removed" };
}

/** Null = it is being deleted. `started`: a pod of it may have run. */
export async function removeConflict(
  context: RunContext,
  job: string,
  started: boolean,
  remove: () => Promise<unknown>,
): Promise<Problem | null> {
  try {
    await retryTransient(context, `Job ${job} cannot be removed`, remove);
    return null;
  } catch (error) {
    return problemEnd({ kind: "conflict-not-removed", job, started, error: errorFacts(error) });
  }
}
