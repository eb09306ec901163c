import type { Found } from "./survey.ts";
import { isFinished } from "./verdict.ts";

/** Finished, its pod over or gone, ours, and old enough that no server will come back for it. */
export function isLeftover({ job, pods, ours, verdict }: Found, olderThanSec: number, now: number): boolean {
  if (!ours || !isFinished(job) || job.deletedAt !== null) return false;
  const over = verdict.state === "over" || verdict.state === "never ran" || pods.length === 0;
  const since = Date.parse(job.conditions.Complete?.at ?? job.conditions.Failed?.at ?? job.createdAt ?? "");
  return over && now - since >= olderThanSec * 1000;
}
