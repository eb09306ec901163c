import type { LockDecision, LockOwner } from "@paperclip-k8s/engine";
import { ANNOTATION } from "../../host/keys.ts";
import { type HostRun, isDetached, isLive, isLost } from "../../host/runs.ts";
import { RECOVERY_REASONS } from "../../prepare/job-place.ts";

/** A finished Job of a lost run is kept this long for a run that continues it. */
const KEPT_MS = 120_000;

/** A Job that has the lock that this run wants. */
export interface Conflict {
  readonly owner: LockOwner;
  /** What the host has on record about the Job's run; null = it does not know that run. */
  readonly run: HostRun | null;
  readonly own: OwnSide;
  /** Whether this run is a retry of the Job's run, directly or over other retries. */
  readonly isRetry: boolean;
  /** How long the Job has been known to be finished. */
  readonly finishedMs: number;
}

/** The run that wants the lock. */
export interface OwnSide {
  readonly task: string | null;
  /** The session it would start with. */
  readonly session: string | null;
  readonly wakeReason: string | null;
  readonly reattach: boolean;
  /** The key that its own Job would hold. */
  readonly exclusive: string;
}

const WAIT: LockDecision = { kind: "wait" };
const NEVER_STARTED: LockDecision = { kind: "remove", why: "it never got its Secret, so it cannot start" };

/** What may be done with another run's Job. Only a run that continues a lost one takes its Job over; what it has to answer besides, it answers after that. */
export function decide(conflict: Conflict): LockDecision {
  const { owner, run } = conflict;
  if (run === null) return leftOver(conflict, "the host does not know its run");
  if (isLive(run)) return WAIT;
  if (run.status === "cancelled") return { kind: "remove", why: "its run was cancelled" };
  if (!isLost(run) && owner.neverStarted) return NEVER_STARTED;
  if (!isLost(run)) return owner.ended ? { kind: "remove", why: "the host has the end of its run on record" } : WAIT;
  if (!continues(conflict, run)) return leftOver(conflict, "nobody continues its run");
  const problem = mismatch(conflict);
  if (problem === null) return { kind: "adopt" };
  return owner.ended ? leftOver(conflict, "its run cannot be continued") : { kind: "blocked", ...problem };
}

const taskOf = ({ annotations }: LockOwner): string | null => annotations[ANNOTATION.taskId] ?? null;

function continues({ owner, own, isRetry }: Conflict, run: HostRun): boolean {
  const task = taskOf(owner);
  if (task !== null && own.task !== null && task !== own.task) return false;
  if (isRetry) return true;
  // A host that has a comment waiting when a run is drained starts a run for that comment, and none that continues the drained one.
  const resumes = isDetached(run) || RECOVERY_REASONS.has(own.wakeReason);
  return resumes && task !== null && task === own.task;
}

/** Its result is in its files and its session is saved, so the next run needs the lock more. */
function leftOver({ owner, finishedMs }: Conflict, why: string): LockDecision {
  if (owner.neverStarted) return NEVER_STARTED;
  return owner.finished && finishedMs >= KEPT_MS ? { kind: "remove", why } : WAIT;
}

function mismatch({ owner, own }: Conflict): { readonly code: string; readonly message: string } | null {
  const job = `Job ${owner.jobName} of run ${owner.runId ?? "unknown"}`;
  const session = owner.annotations[ANNOTATION.sessionId] ?? null;
  if (taskOf(owner) === null || own.task === null)
    return { code: "k8s_orphan_task_unknown", message: `${job} is still live, and whether it works on this run's task is not known` };
  // Each key of the host's has a session of its own.
  const isSameKey = (owner.annotations[ANNOTATION.exclusive] ?? own.exclusive) === own.exclusive;
  if (isSameKey && session !== null && own.session !== null && session !== own.session)
    return {
      code: "k8s_orphan_session_mismatch",
      message: `${job} is still live on the same task with session ${session}; this run has session ${own.session}`,
    };
  if (!own.reattach)
    return {
      code: "k8s_concurrent_run_blocked",
      message: `${job} is still live and would be continued, but Take over live Jobs (reattachOrphanedJobs) is off`,
    };
  return null;
}
