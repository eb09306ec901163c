import type { JobView } from "../kube/views.ts";
import type { Adoption, ConflictFacts, StartProblem } from "../outcome/observation.ts";
import { overlaps } from "../overlaps.ts";
import type { RunKeys, RunRequest } from "../request.ts";
import { withTimeout } from "../retry.ts";
import type { LockDecision, LockOwner, RunContext } from "../run-context.ts";
import { hasEnded, isOver } from "./ended-jobs.ts";

/** Of the finished ones so many are asked about: more are kept for debugging, and their results were given long ago. */
const MOST_ASKED = 5;
const ASK_TIMEOUT_MS = 60_000;

export type Adopted = { readonly kind: "adopted"; readonly adoption: Adoption };
export type Problem = { readonly kind: "problem"; readonly problem: StartProblem };
export const problemEnd = (problem: StartProblem): Problem => ({ kind: "problem", problem });

/** One issue may be woken under several keys. */
function isSameWork({ sameWork }: Pick<RunRequest, "sameWork">, { annotations }: Pick<JobView, "annotations">): boolean {
  return sameWork !== undefined && Object.entries(sameWork).every(([key, value]) => annotations[key] === value);
}

/** Does this Job, whatever its name, hold a key that overlaps with the run's? */
export function isConflicting(
  request: Pick<RunRequest, "exclusive" | "keys" | "legacyLabels" | "sameWork">,
  job: Pick<JobView, "labels" | "annotations">,
): boolean {
  const { exclusive, keys, legacyLabels } = request;
  if (exclusive === null) return false;
  const key = job.annotations[keys.exclusive];
  if (key !== undefined) return overlaps(key, exclusive) || isSameWork(request, job);
  const isOurs = job.annotations[keys.runner] !== undefined;
  return !isOurs && legacyLabels !== undefined && Object.entries(legacyLabels).every(([name, value]) => job.labels[name] === value);
}

/**
 * The Job under another name that this run has to deal with before it may create its own: one to adopt, else one that is live.
 * One that has ended is not in the way, since its name is not needed. `notAdoptable`: Jobs, by uid, that this run has tried to adopt in vain.
 */
export async function conflictingJob(context: RunContext, notAdoptable: ReadonlySet<string>): Promise<JobView | null> {
  const { settled } = context;
  const past = conflictingJobs(context).filter(
    (job) => hasEnded(context, job) && job.deletedAt === null && !settled.jobs.has(job.uid) && !notAdoptable.has(job.uid),
  );
  for (const job of [...liveConflicts(context), ...past.slice(0, MOST_ASKED)]) {
    const owner = lockOwnerOf(context, job);
    if (job.deletedAt !== null) continue;
    if ((await askAbout(context, owner)).kind === "adopt") return job;
  }
  return liveConflicts(context)[0] ?? null;
}

/** Of so many live Jobs the caller is asked which one to adopt. */
const MOST_LIVE = 20;

/** The live Jobs of this engine, under any name, that hold a key which overlaps with the run's; newest first. */
export function liveOwners(context: RunContext): JobView[] {
  const { watch, request, settled, goneJobs } = context;
  const isOwner = (job: JobView) =>
    !isOver(context, job) &&
    job.deletedAt === null &&
    !goneJobs.has(job.uid) &&
    !settled.jobs.has(job.uid) &&
    job.annotations[request.keys.runner] !== undefined &&
    isConflicting(request, job);
  return newestFirst(watch.jobs().filter(isOwner)).slice(0, MOST_LIVE);
}

const liveConflicts = (context: RunContext): JobView[] => conflictingJobs(context).filter((job) => !hasEnded(context, job));

function conflictingJobs({ watch, request, submission, goneJobs }: RunContext): JobView[] {
  const isOther = (job: JobView) => job.name !== submission.jobName && !goneJobs.has(job.uid);
  return newestFirst(watch.jobs().filter((job) => isOther(job) && isConflicting(request, job)));
}

/** The Job of this run's name, as the watch shows it. */
export function namesake({ watch, submission, goneJobs }: RunContext): JobView | null {
  const job = watch.jobNamed(submission.jobName);
  return job !== null && goneJobs.has(job.uid) ? null : job;
}

const newestFirst = (jobs: JobView[]): JobView[] => jobs.sort((a, b) => (b.createdAt ?? "").localeCompare(a.createdAt ?? ""));

/** What is to be done with a Job, and whether that leaves an agent at work which this run was to take over. */
export async function askAbout(context: RunContext, owner: LockOwner): Promise<LockDecision> {
  const { request, io, run, leaving } = context;
  const decision = await decisionOf(context, owner);
  const isItsOwn = decision.kind === "adopt" || decision.kind === "blocked";
  // Where there is nobody to ask, a run that continues none only waits for others.
  const canBeItsOwn = request.continues === true || (owner.ours && io.onLockConflict !== undefined);
  const isUnknown = decision.kind === "wait" && decision.undecided === true && canBeItsOwn;
  // A run that leaves waits for no answer, so what it knew before counts.
  if (decision.kind !== "wait" || !leaving.aborted)
    run.observe({ kind: "orphan", job: owner.uid, mayWork: !owner.ended && (isItsOwn || isUnknown) });
  return decision;
}

/** The caller's decision about a Job of this engine. A caller that fails, or does not answer in time, has not decided. */
async function decisionOf(context: RunContext, owner: LockOwner): Promise<LockDecision> {
  const undecided: LockDecision = { kind: "wait", undecided: true };
  if (!owner.ours) return undecided;
  // The same run was started again, after a restart.
  if (owner.runId === context.request.runId) return { kind: "adopt" };
  const answer = Promise.resolve(owner).then((asked) => context.io.onLockConflict?.(asked));
  return (await withTimeout(context, ASK_TIMEOUT_MS, answer).catch(() => null)) ?? undecided;
}

export function lockOwnerOf(context: RunContext, job: JobView): LockOwner {
  const { name: jobName, uid, labels, annotations, createdAt } = job;
  const { keys } = context.request;
  const ends = { finished: isOver(context, job), ended: hasEnded(context, job) };
  return { jobName, uid, runId: ownerOf(job, keys), labels, annotations, ours: isOurs(job, keys), ...ends, createdAt };
}

const isOurs = ({ annotations }: JobView, keys: RunKeys): boolean => annotations[keys.runner] !== undefined;

/** The run that the Job works for now; null = it does not say. */
export const ownerOf = ({ annotations }: JobView, keys: RunKeys): string | null => annotations[keys.runId] ?? null;

export function conflictFacts({ request, submission }: RunContext, job: JobView): ConflictFacts {
  const { keys } = request;
  return { job: job.name, runId: ownerOf(job, keys), ours: isOurs(job, keys), sameKey: job.name === submission.jobName };
}
