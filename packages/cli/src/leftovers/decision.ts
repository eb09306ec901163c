import { isFinished, type JobView, type PodView, type SecretView } from "@paperclip-k8s/engine";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { howEnded, isPhaseFinal } from "../cluster/job-state.ts";
import { type FoundJob, runIdsOf } from "../cluster/jobs.ts";
import type { RunFileSet } from "./run-files.ts";

/** What becomes of something that looks left over. Null instead of this = it is not mentioned. */
export interface Decision {
  /** `remove`: provably nobody needs it. `keep`: that is not proved. */
  readonly kind: "remove" | "keep";
  readonly why: string;
}

export const remove = (why: string): Decision => ({ kind: "remove", why });
export const keep = (why: string): Decision => ({ kind: "keep", why });

/** How old something must be, and what time it is. */
export interface Span {
  readonly olderThanSec: number;
  readonly now: number;
}

/** What has no time is never old. */
const isOld = (since: string | null, { olderThanSec, now }: Span): boolean => now - Date.parse(since ?? "") >= olderThanSec * 1000;

/** A live server gives a Job its Secret within this time, however short a span was asked for. */
const SECRET_SEC = 120;

/** Jobs that are finished, or can never start. `secrets`: of its namespace; null = this account may not see them. */
export function decideJob(found: FoundJob, secrets: readonly SecretView[] | null, span: Span): Decision | null {
  const { job, ours, state } = found;
  if (job.deletedAt !== null || !isOld(sinceOf(job), span)) return null;
  if (!ours) return state.kind === "alive" ? null : keep("not started by this version: look at it by hand");
  if (isFinished(job)) return finished(found);
  if (state.kind === "unknown") return keep(state.why);
  // A container beside the agent's keeps the Job from finishing.
  if (state.kind === "ended")
    return isOld(state.end.finishedAt, span) ? remove(`the agent ${howEnded(state)}, and the Job does not finish`) : null;
  return state.kind === "alive" ? unstarted(found, secrets, span) : null;
}

/** When it ended, else when it was created. */
export const sinceOf = ({ conditions, createdAt }: JobView): string | null => conditions.Complete?.at ?? conditions.Failed?.at ?? createdAt;

function finished({ pods, state }: FoundJob): Decision {
  if (state.kind === "ended") return remove(`finished: the agent ${howEnded(state)}`);
  if (state.kind === "never ran") return remove(`finished: ${state.why}`);
  return pods.length === 0 ? remove("finished, and its pod is gone") : keep(`finished, but ${state.why}`);
}

/** A run's Job gets its Secret right after it was created. A server that dies in between leaves a Job whose pod cannot start. Our other Jobs have no Secret. */
function unstarted({ job, pods }: FoundJob, secrets: readonly SecretView[] | null, span: Span): Decision | null {
  const isRun = job.annotations[ANNOTATION.nonce] !== undefined;
  if (!isRun || !pods.every(neverStarted)) return null;
  if (secrets === null) return keep("has not started, and whether it has its Secret cannot be seen");
  if (hasSecret(job, secrets)) return null;
  if (!isOld(job.createdAt, { ...span, olderThanSec: SECRET_SEC })) return keep("has no Secret yet: its server may be about to make it");
  return remove("never got its Secret, so it cannot start");
}

const neverStarted = ({ phase, containers }: PodView): boolean =>
  phase === "Pending" && containers.every(({ state }) => state.kind === "waiting");

export const hasSecret = ({ uid }: Pick<JobView, "uid">, secrets: readonly SecretView[]): boolean =>
  secrets.some(({ ownerUids }) => ownerUids.includes(uid));

/** A run's pod whose Job is gone: deleted without what it owned. One that still works is nobody's to end but the operator's. */
export function decidePod(pod: PodView, jobs: readonly JobView[], span: Span): Decision | null {
  if (pod.deletedAt !== null || jobs.some(({ uid }) => uid === pod.jobUid) || !isOld(pod.createdAt, span)) return null;
  return isPhaseFinal(pod)
    ? remove("its Job is gone, and it has ended")
    : keep("its Job is gone, and it may still work: delete it by hand");
}

/** A run's Secret whose Job is gone: deleted without what it owned, or not collected. Jobs and pods were listed after it. */
export function decideSecret(secret: SecretView, jobs: readonly JobView[], pods: readonly PodView[], span: Span): Decision | null {
  const known = new Set(jobs.map(({ uid }) => uid));
  if (secret.deletedAt !== null || secret.ownerUids.some((uid) => known.has(uid)) || !isOld(secret.createdAt, span)) return null;
  // Which Secret a pod mounts is not looked at: any pod without a Job may be the one.
  const orphan = pods.find((pod) => !known.has(pod.jobUid) && !isPhaseFinal(pod));
  return orphan === undefined ? remove("its Job is gone") : keep(`its Job is gone, but pod ${orphan.name} may still need it`);
}

type JobAnnotations = Pick<JobView, "annotations">;

/** `seen`: Jobs of the namespaces looked at. `everywhere`: of all namespaces; null = this account may not see them. All were listed after the files. */
export function decideFiles(
  files: RunFileSet,
  seen: readonly JobAnnotations[],
  everywhere: readonly JobAnnotations[] | null,
  span: Span,
): Decision | null {
  // A Job that names this output, or works or worked for its run.
  const isOf = (job: JobAnnotations) =>
    runIdsOf(job).includes(files.run) || (job.annotations[ANNOTATION.output] ?? "").endsWith(`/${files.name}`);
  if (!isOld(files.writtenAt, span) || seen.some(isOf)) return null;
  if (files.end !== null) return remove(`its Job is gone; the runner recorded the end at ${files.end.at}`);
  if (everywhere === null) return keep("no end is on record, and this account cannot see whether a Job in another namespace writes there");
  return everywhere.some(isOf) ? null : remove("no Job in any namespace works for its run");
}
