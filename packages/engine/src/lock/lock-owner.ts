import type { JobView } from "../kube/views.ts";
import type { RunKeys } from "../request.ts";

/** A Job of another submit that bears this run's name, and so holds its key: what a caller needs to judge it. */
export interface LockOwner {
  readonly jobName: string;
  readonly uid: string;
  /** The run it works for now; null = it does not say. */
  readonly runId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** It was started with our runner; any other is only waited for. */
  readonly ours: boolean;
  readonly finished: boolean;
  readonly createdAt: string | null;
}

/** `remove`: its end is on record, or somebody cancelled it; nothing of it is needed any more. */
export type LockDecision =
  | { readonly kind: "wait" }
  | { readonly kind: "adopt" }
  | { readonly kind: "remove"; readonly why: string }
  | { readonly kind: "blocked"; readonly code: string; readonly message: string };

export function lockOwnerOf(job: JobView, keys: RunKeys): LockOwner {
  const { name: jobName, uid, labels, annotations, createdAt } = job;
  const runId = annotations[keys.runId] ?? null;
  return { jobName, uid, runId, labels, annotations, ours: annotations[keys.runner] !== undefined, finished: isFinished(job), createdAt };
}

export function isFinished(job: JobView): boolean {
  return "Complete" in job.conditions || "Failed" in job.conditions;
}

/** For messages: " of run r", and whether this engine started it. */
export function ofRun(job: JobView, keys: RunKeys): string {
  const { runId, ours } = lockOwnerOf(job, keys);
  return `${runId === null ? "" : ` of run ${runId}`}${ours ? "" : " (not started by this version, so it is left alone)"}`;
}
