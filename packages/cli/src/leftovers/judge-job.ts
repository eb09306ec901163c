import { isFinished, type JobView, type PodView, type SecretView } from "@paperclip-k8s/engine";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { howEnded } from "../cluster/statement.ts";
import type { Found } from "../cluster/survey.ts";
import { isOld, type Judged, over, type Span, unproved } from "./judged.ts";

/** However short a time was asked for: a server that lives gives a Job its Secret within this. */
const SECRET_SEC = 120;

/** Jobs that are finished, or can never start. `secrets`: of its namespace; null = this account may not see them. */
export function judgeJob(found: Found, secrets: readonly SecretView[] | null, span: Span): Judged | null {
  const { job, ours, verdict } = found;
  if (job.deletedAt !== null || !isOld(sinceOf(job), span)) return null;
  if (!ours) return verdict.state === "alive" ? null : unproved("not started by this version: look at it by hand");
  if (isFinished(job)) return finished(found);
  if (verdict.state === "unknown") return unproved(verdict.why);
  return verdict.state === "alive" ? unstarted(found, secrets, span) : null;
}

/** When it ended, else when it began. */
export const sinceOf = ({ conditions, createdAt }: JobView): string | null => conditions.Complete?.at ?? conditions.Failed?.at ?? createdAt;

function finished({ pods, verdict }: Found): Judged {
  if (verdict.state === "over") return over(`finished: the agent ${howEnded(verdict)}`);
  if (verdict.state === "never ran") return over(`finished: ${verdict.why}`);
  return pods.length === 0 ? over("finished, and its pod is gone") : unproved(`finished, but ${verdict.why}`);
}

/** A run's Job gets its Secret right after it; a server that dies in between leaves one that no pod can start. Others of ours never have one. */
function unstarted({ job, pods }: Found, secrets: readonly SecretView[] | null, span: Span): Judged | null {
  const isRun = job.annotations[ANNOTATION.nonce] !== undefined;
  if (!isRun || !pods.every(neverStarted)) return null;
  if (secrets === null) return unproved("has not started, and whether it has its Secret cannot be seen");
  if (hasSecret(job, secrets)) return null;
  if (!isOld(job.createdAt, { ...span, olderThanSec: SECRET_SEC }))
    return unproved("has no Secret yet: its server may be about to make it");
  return over("never got its Secret, so it cannot start");
}

const neverStarted = ({ phase, containers }: PodView): boolean =>
  phase === "Pending" && containers.every(({ state }) => state.kind === "waiting");

export const hasSecret = ({ uid }: Pick<JobView, "uid">, secrets: readonly SecretView[]): boolean =>
  secrets.some(({ ownerUids }) => ownerUids.includes(uid));
