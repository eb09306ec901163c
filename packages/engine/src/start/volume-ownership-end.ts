import type { JobView, PodView } from "../kube/views.ts";
import type { ClusterFact } from "../kube/watch/run-watch.ts";

/** What is known of a Job that hands a volume over. */
export interface OwnershipSeen {
  readonly job: JobView;
  readonly pod: PodView | null;
  readonly jobGone: boolean;
  readonly podGone: boolean;
}

export type OwnershipEnd =
  | { readonly done: true; readonly over: true }
  | { readonly done: false; readonly over: boolean; readonly why: string };

export function noteOwnership(seen: OwnershipSeen, fact: ClusterFact): OwnershipSeen {
  if (fact.kind === "job") return { ...seen, job: fact.job };
  if (fact.kind === "job-gone") return { ...seen, jobGone: true };
  if (fact.kind === "pod") return { ...seen, pod: fact.pod };
  return fact.kind === "pod-gone" ? { ...seen, pod: fact.pod, podGone: true } : seen;
}

/** A pod that succeeded is the first to know; one that failed may be followed by another. Null = not over yet. */
export function ownershipEnd({ job, pod, jobGone, podGone }: OwnershipSeen): OwnershipEnd | null {
  const state = pod?.containers[0]?.state;
  const ran = state?.kind === "terminated";
  if (job.conditions.Complete !== undefined || (ran && state.exitCode === 0)) return { done: true, over: true };
  if (job.conditions.Failed !== undefined) return { done: false, over: ran, why: ran ? saidLast(state.message) : whyNotOver(pod) };
  // Who else waited for it has removed it; how its pod ended comes by the other watch, and may be late.
  if (!jobGone || (pod !== null && !podGone)) return null;
  return { done: false, over: false, why: "its Job was deleted" };
}

/** Of a stack trace, the line that names the error. */
function saidLast(message: string | null): string {
  const lines = (message ?? "").split("\n").map((line) => line.trim());
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.find((line) => line !== "") ?? "its pod failed";
}

export function whyNotOver(pod: PodView | null): string {
  const waiting = pod?.containers[0]?.state;
  const said = waiting?.kind === "waiting" ? (waiting.message ?? waiting.reason) : null;
  return pod?.conditions.PodScheduled?.message ?? said ?? "its pod did not end in time";
}
