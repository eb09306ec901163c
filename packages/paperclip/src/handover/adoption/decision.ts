import type { LockDecision, LockOwner } from "@paperclip-k8s/engine";
import type { HostRun } from "../../host/host-runs.ts";
import { ANNOTATION } from "../../host/keys.ts";

/** A finished Job of a lost run waits this long for somebody who continues it. */
const UNCLAIMED_MS = 120_000;
const LIVE = new Set(["queued", "running", "scheduled_retry", "cancelling"]);
/** The host's own word for a run whose server went away, and ours for one that left its Job to the next, or does not know whether it had got it. */
const LOST_CODES = new Set(["process_lost", "k8s_detached", "k8s_takeover_failed"]);
/** Wakes by which the host takes up a task again after a restart. */
const RECOVERY_WAKES = new Set([
  "process_lost_retry",
  "issue_continuation_needed",
  "issue_assignment_recovery",
  "issue_recovery_action_restored",
]);

export interface HolderCase {
  readonly holder: LockOwner;
  /** What the host says about the Job's run. */
  readonly run: HostRun | "missing";
  readonly own: OwnSide;
  /** The run's own `retryOfRunId`, followed back, names the Job's run. */
  readonly isRetry: boolean;
  /** How long the Job has been known to be over. */
  readonly finishedMs: number;
}

/** The run that wants the key. */
export interface OwnSide {
  readonly task: string | null;
  /** The session it would start with. */
  readonly session: string | null;
  readonly wakeReason: string | null;
  readonly reattach: boolean;
}

const WAIT: LockDecision = { kind: "wait" };

/** What may be done with another run's Job. Only a run that continues a lost one takes its Job over. */
export function verdictOn(matter: HolderCase): LockDecision {
  const { holder, run } = matter;
  if (run === "missing") return leftOver(matter, "the host does not know its run");
  if (LIVE.has(run.status)) return WAIT;
  if (run.status === "cancelled") return { kind: "remove", why: "its run was cancelled" };
  if (!isLost(run)) return holder.finished ? { kind: "remove", why: "the host has the end of its run on record" } : WAIT;
  if (!continues(matter)) return leftOver(matter, "nobody continues its run");
  const problem = mismatch(matter);
  if (problem === null) return { kind: "adopt" };
  return holder.finished ? leftOver(matter, "its run cannot be continued") : { kind: "blocked", ...problem };
}

export function isLost({ status, errorCode }: HostRun): boolean {
  return status === "interrupted" || (status === "failed" && errorCode !== null && LOST_CODES.has(errorCode));
}

const taskOf = ({ annotations }: LockOwner): string | null => annotations[ANNOTATION.taskId] ?? null;

function continues({ holder, own, isRetry }: HolderCase): boolean {
  const task = taskOf(holder);
  if (task !== null && own.task !== null && task !== own.task) return false;
  return isRetry || (own.wakeReason !== null && RECOVERY_WAKES.has(own.wakeReason) && task !== null && task === own.task);
}

/** Its result is in its files, and its session is saved: the key is worth more to the next run. */
function leftOver({ holder, finishedMs }: HolderCase, why: string): LockDecision {
  return holder.finished && finishedMs >= UNCLAIMED_MS ? { kind: "remove", why } : WAIT;
}

function mismatch({ holder, own }: HolderCase): { readonly code: string; readonly message: string } | null {
  const job = `Job ${holder.jobName} of run ${holder.runId ?? "unknown"}`;
  const session = holder.annotations[ANNOTATION.sessionId] ?? null;
  if (taskOf(holder) === null || own.task === null)
    return { code: "k8s_orphan_task_unknown", message: `${job} is still live, and whether it works on this run's task is not known` };
  if (session !== null && own.session !== null && session !== own.session)
    return {
      code: "k8s_orphan_session_mismatch",
      message: `${job} is still live on the same task with session ${session}; this run has session ${own.session}`,
    };
  if (!own.reattach)
    return {
      code: "k8s_concurrent_run_blocked",
      message: `${job} is still live and would be continued, but reattachOrphanedJobs is off`,
    };
  return null;
}
