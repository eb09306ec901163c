import { type Job, type JobStatus, trackingFinalizer } from "./job.ts";
import { type Condition, hasCondition, setCondition, timestamp } from "./object.ts";
import { isOver, type Pod } from "./pod.ts";

// Pure: what a Job's pods mean for the Job.

export interface PodCounts {
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  /** Over, and not yet counted in the Job's status. */
  readonly newlySucceeded: readonly Pod[];
  readonly newlyFailed: readonly Pod[];
  /** Deleted by a suspension: let go without being counted. */
  readonly released: readonly Pod[];
}

const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(trackingFinalizer) ?? false;

export function countPods(job: Job, pods: readonly Pod[]): PodCounts {
  const tracked = pods.filter(isTracked);
  const deleted = tracked.filter((pod) => pod.metadata.deletionTimestamp && pod.status.phase !== "Succeeded");
  const failed = tracked.filter((pod) => pod.status.phase === "Failed" || deleted.includes(pod));
  return {
    active: pods.filter((pod) => !pod.metadata.deletionTimestamp && !isOver(pod)),
    terminating: pods.filter((pod) => pod.metadata.deletionTimestamp && !isOver(pod)),
    newlySucceeded: tracked.filter((pod) => pod.status.phase === "Succeeded"),
    // A pod that is being deleted counts as failed at once (podReplacementPolicy TerminatingOrFailed).
    newlyFailed: job.spec.suspend ? [] : failed,
    released: job.spec.suspend ? failed : [],
  };
}

export const isFinished = (job: Job): boolean =>
  hasCondition(job.status.conditions, "Complete") || hasCondition(job.status.conditions, "Failed");

/** When the Job's time is up, given when it started: startTime itself is cut to the second. */
export const deadlineOf = (job: Job, startedAt: number): number | undefined =>
  job.spec.activeDeadlineSeconds === undefined || job.spec.suspend ? undefined : startedAt + job.spec.activeDeadlineSeconds * 1000;

const success = { reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
const backoff = { reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
const deadline = { reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };

/** The first condition of a pair: how the Job will end, as soon as its pods are gone. */
export function targetOf(job: Job, counts: PodCounts, overdue: boolean): Condition | undefined {
  const existing = job.status.conditions?.find(({ type }) => type === "FailureTarget" || type === "SuccessCriteriaMet");
  if (existing) return existing;
  const succeeded = (job.status.succeeded ?? 0) + counts.newlySucceeded.length;
  const failed = (job.status.failed ?? 0) + counts.newlyFailed.length;
  if (failed > (job.spec.backoffLimit ?? 6)) return { type: "FailureTarget", status: "True", ...backoff };
  if (overdue && succeeded === 0) return { type: "FailureTarget", status: "True", ...deadline };
  if (succeeded >= (job.spec.completions ?? 1)) return { type: "SuccessCriteriaMet", status: "True", ...success };
  return undefined;
}

/** The second of the pair. */
export const finalOf = (target: Condition): Condition => ({
  type: target.type === "FailureTarget" ? "Failed" : "Complete",
  status: "True",
  ...(target.reason === undefined ? {} : { reason: target.reason }),
  ...(target.message === undefined ? {} : { message: target.message }),
});

const isReady = (pod: Pod): boolean => hasCondition(pod.status.conditions, "Ready");

/** The status while the Job goes on, and the first of the two writes when it ends. */
export function runningStatus(job: Job, counts: PodCounts, target: Condition | undefined): JobStatus {
  const { active: _active, ...status } = job.status;
  const conditions = suspension(job, target ? setCondition(status.conditions, probed(target)) : status.conditions);
  return {
    ...status,
    ...(conditions ? { conditions } : {}),
    ...(counts.active.length > 0 ? { active: counts.active.length } : {}),
    terminating: counts.terminating.length,
    ready: counts.active.filter(isReady).length,
    uncountedTerminatedPods: {},
  };
}

const probed = (condition: Condition): Condition => ({ lastProbeTime: timestamp(), ...condition });

function suspension(job: Job, conditions: Condition[] | undefined): Condition[] | undefined {
  const suspended = hasCondition(conditions, "Suspended");
  if (job.spec.suspend && !suspended) {
    return setCondition(conditions, { type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" });
  }
  if (job.spec.suspend || !suspended) return conditions;
  return setCondition(conditions, { type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" });
}

/** The second write: pods are counted, and the Job is over if none is left. */
export function countedStatus(job: Job, counts: PodCounts): JobStatus {
  const target = targetOf(job, counts, false);
  const over = target !== undefined && counts.active.length === 0 && counts.terminating.length === 0;
  const succeeded = (job.status.succeeded ?? 0) + counts.newlySucceeded.length;
  const failed = (job.status.failed ?? 0) + counts.newlyFailed.length;
  return {
    ...job.status,
    ...(succeeded > 0 ? { succeeded } : {}),
    ...(failed > 0 ? { failed } : {}),
    ...(over ? { conditions: setCondition(job.status.conditions, probed(finalOf(target))) } : {}),
    ...(over && target.type === "SuccessCriteriaMet" ? { completionTime: timestamp() } : {}),
  };
}
