import type { JobView } from "../kube/views.ts";
import type { RunRequest } from "../request.ts";
import type { RunContext } from "../run-context.ts";
import { isFinished, lockOwnerOf } from "./lock-owner.ts";

/** Of those that are over, so many are asked about: more are kept for debugging, and their runs are long settled. */
const MOST_ASKED = 5;

/** Keys are paths, and what lies above holds all that lies below. */
export function overlaps(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** Does this Job, whatever its name, keep the run's key from it? */
export function isConflicting(
  request: Pick<RunRequest, "exclusive" | "keys" | "legacyLabels">,
  job: Pick<JobView, "labels" | "annotations">,
): boolean {
  const { exclusive, keys, legacyLabels } = request;
  if (exclusive === null) return false;
  const key = job.annotations[keys.exclusive];
  if (key !== undefined) return overlaps(key, exclusive);
  const isOurs = job.annotations[keys.runner] !== undefined;
  return !isOurs && legacyLabels !== undefined && Object.entries(legacyLabels).every(([name, value]) => job.labels[name] === value);
}

/**
 * The Job under another name that this run has to deal with before it may create its own: one to go on with, else one that is live.
 * One that is over holds nothing, since its name is not needed.
 */
export async function conflictingJob(context: RunContext): Promise<JobView | null> {
  const { io, request, settled } = context;
  const over = conflictingJobs(context).filter((job) => isFinished(job) && job.deletedAt === null && !settled.has(job.uid));
  for (const job of [...liveConflicts(context), ...over.slice(0, MOST_ASKED)]) {
    const holder = lockOwnerOf(job, request.keys);
    if (!holder.ours || job.deletedAt !== null) continue;
    if (holder.runId === request.runId) return job;
    const verdict = await io.onLockConflict?.(holder).catch(() => null);
    if (verdict?.kind === "adopt") return job;
  }
  return liveConflicts(context)[0] ?? null;
}

const liveConflicts = (context: RunContext): JobView[] => conflictingJobs(context).filter((job) => !isFinished(job));

/** Newest first. */
function conflictingJobs({ watch, request, submission }: RunContext): JobView[] {
  const found = watch.jobs().filter((job) => job.name !== submission.jobName && isConflicting(request, job));
  return found.sort((a, b) => (b.createdAt ?? "").localeCompare(a.createdAt ?? ""));
}
