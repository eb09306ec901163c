import { isForbidden } from "../kube/api-error.ts";
import { getJob } from "../kube/calls.ts";
import { claimJob } from "../kube/patches.ts";
import type { JobView } from "../kube/views.ts";
import { labelValue } from "../manifest/labels.ts";
import { retryTransient } from "../retry.ts";
import { cancelReason, type RunContext, say } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { notStarted } from "../start/not-started.ts";
import { deleteOrphanLater } from "./delete-orphan-later.ts";
import { isCertainlyNot } from "./failed-create.ts";

/** Not broken off by a cancel: a Job that is claimed must be known to be. */
const CLAIM_TIMEOUT_MS = 5000;
const LOOK_TIMEOUT_MS = 3000;
/** An annotation may be long, but nobody reads a list of hundreds. */
const MAX_TRAIL = 50;

/** `lost`: somebody else was first, or it is going. `denied`: this account may not. */
export type Claim =
  | { readonly kind: "claimed"; readonly job: JobView }
  | { readonly kind: "lost" | "denied" }
  | { readonly kind: "refused"; readonly why: OutcomeKind };

/** Makes another run's Job this run's, by compare-and-swap on its run id. */
export async function takeOwnership(context: RunContext, holder: JobView, from: string): Promise<Claim> {
  const { connection, request } = context;
  const { keys, runId } = request;
  const trail = [...(holder.annotations[keys.adoptedFrom]?.split(",") ?? []), from].slice(-MAX_TRAIL);
  const change = {
    uid: holder.uid,
    key: keys.runId,
    from,
    to: runId,
    label: labelValue(runId).value,
    annotations: from === runId ? {} : { [keys.adoptedFrom]: trail.join(",") },
  };
  try {
    const claimed = await retryTransient(context, `Job ${holder.name} cannot be taken over`, () =>
      claimJob(connection, request.namespace, holder.name, change, { timeoutMs: CLAIM_TIMEOUT_MS }),
    );
    // A test that fails may have met what an earlier try, whose answer was lost, has written.
    const job = claimed ?? (await claimedBefore(context, holder));
    return job === null || job === "unknown" || job.deletedAt !== null ? { kind: "lost" } : { kind: "claimed", job };
  } catch (error) {
    if (!isForbidden(error)) return failedClaim(context, holder, from, error);
    say(context, "warning", `Job ${holder.name} cannot be taken over: ${error.message}; waiting until it is gone`);
    return { kind: "denied" };
  }
}

/** A claim whose answer was lost may have been a yes: then the Job is this run's, and nobody else would follow it. */
async function failedClaim(context: RunContext, holder: JobView, from: string, error: unknown): Promise<Claim> {
  const found = isCertainlyNot(error) ? null : await claimedBefore(context, holder);
  if (found !== null && found !== "unknown") return found.deletedAt === null ? { kind: "claimed", job: found } : { kind: "lost" };
  const { request, io } = context;
  if (found === "unknown" && io.signal.aborted) {
    void deleteOrphanLater(context, holder.name, (job) => isClaimed(context, holder, job)).catch(() => {});
    return { kind: "refused", why: { kind: "cancelled", reason: cancelReason(io.signal), exitCode: null, stopped: false } };
  }
  const what = `Job ${request.namespace}/${holder.name} of run ${from} goes on, but could not be taken over`;
  return { kind: "refused", why: notStarted("takeover-failed", what, error) };
}

/** The Job, if it is this run's already; null = it is not. */
async function claimedBefore(context: RunContext, holder: JobView): Promise<JobView | null | "unknown"> {
  const { connection, request } = context;
  try {
    const job = await getJob(connection, request.namespace, holder.name, { timeoutMs: LOOK_TIMEOUT_MS });
    return job !== null && isClaimed(context, holder, job) ? job : null;
  } catch {
    return "unknown";
  }
}

const isClaimed = ({ request }: RunContext, holder: JobView, job: JobView): boolean =>
  job.uid === holder.uid && job.annotations[request.keys.runId] === request.runId;
