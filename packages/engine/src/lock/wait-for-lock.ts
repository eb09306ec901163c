import { lookAgain } from "../kube/calls.ts";
import type { ClusterFact, JobView } from "../kube/views.ts";
import { type DeleteResult, deleteJobAsSeen } from "../kube/writes.ts";
import { JOB_NAMES } from "../manifest/names.ts";
import { conflictText, keyText, seconds } from "../outcome/admission.ts";
import type { RunKeys } from "../request.ts";
import { type LockDecision, log, type RunContext } from "../run-context.ts";
import { forbidStart } from "../start/forbid-start.ts";
import { JOB_WAIT_SEC } from "../timeouts.ts";
import { type Adopted, askAbout, conflictFacts, lockOwnerOf, ownerOf, type Problem, problemEnd } from "./conflicting-jobs.ts";
import { hasEnded, isOver, needNotWaitForPod, proveEnd, readAnnotations } from "./ended-jobs.ts";
import { createSecretLook } from "./secretless.ts";
import { adopt, removeConflict } from "./take-over.ts";

/** A finished Job is deleted by the server that gave its result; after this long there is none that does. */
const ABANDONED_MS = 10_000;
/** The Job of the run before is often just being deleted, which is not worth a line. */
const LOG_AFTER_MS = 1000;
/** Quickly at first: the Job of the run before is often just ending. A change that the watch shows is looked at at once. */
const LOOK_MS = { first: 50, most: 500 };
const HIDDEN_LOOK_MS = 5000;
/** Somebody who could not answer is asked again after this. */
const UNDECIDED_MS = 2000;
/** For so long its end record is looked for at each look, later only when the Job or its pod has changed. */
const PROOF_MS = 5000;

/** `free`: the run may try again to create its Job, unless it leaves. `retained`: under the next name. */
type LockWaitEnd = Adopted | Problem | { readonly kind: "free" | "retained" | "timeout" };

/** What a run remembers of the Jobs that it has waited for, by uid: a Job whose name is still taken is waited for again. */
export class LockWaits {
  /** Those that it has tried to adopt in vain. */
  readonly notAdoptable: Set<string> = new Set();
  /** Those that the watch has called gone. One of them that still has its name lacks the labels by which it is found. */
  readonly gone: Set<string> = new Set();
  readonly #waits = new Map<string, LockWait>();

  of(context: RunContext, job: JobView): LockWait {
    const known = this.#waits.get(job.uid) ?? { begun: context.clock.now(), logWaiting: createWaitingLine(context, job), isHidden: false };
    const isHidden = this.gone.has(job.uid);
    if (isHidden && !known.isHidden) log(context, "warning", hiddenText(context, job));
    const wait = { ...known, isHidden };
    this.#waits.set(job.uid, wait);
    return wait;
  }
}

interface LockWait {
  readonly begun: number;
  readonly logWaiting: () => void;
  readonly isHidden: boolean;
}

const hiddenText = ({ request }: RunContext, { name }: JobView): string =>
  `Job ${name} is there, but not among those with the labels ${request.selector}; it is looked at by its name`;

/** Waits until the Job that holds the key is gone, or is this run's to adopt. `latest`: when it ends at the latest, whatever the Job may take. */
export async function waitForLock(context: RunContext, conflict: JobView, latest: number, waits: LockWaits): Promise<LockWaitEnd> {
  const { clock, watch, leaving, request, run, settled } = context;
  const { begun, logWaiting, isHidden } = waits.of(context, conflict);
  const { notAdoptable } = waits;
  const limit = timeLimit(conflict, request.keys);
  const deadline = Math.min(latest, begun + (limit === null ? run.timeouts.admission : (limit + JOB_WAIT_SEC.pastLimit) * 1000));
  const gone = new AbortController();
  const ended = AbortSignal.any([gone.signal, leaving]);
  let job: JobView = conflict;
  let changed = new AbortController();
  const listen = (fact: ClusterFact) => {
    if (fact.kind === "job") job = fact.job;
    if (fact.kind === "job-gone" && !isHidden) gone.abort();
    wake();
  };
  const wake = () => changed.abort();
  const onSettled = (uid: string) => void (uid === conflict.uid && wake());
  const subscription = watch.subscribe(conflict.name, listen, conflict.uid);
  const decide = createDecider(context, notAdoptable);
  const isSecretless = createSecretLook(context, conflict, begun);
  settled.listeners.add(onSettled);
  leaving.addEventListener("abort", wake);
  try {
    for (let pause = LOOK_MS.first; !ended.aborted && clock.now() < deadline; pause = Math.min(2 * pause, LOOK_MS.most)) {
      const decided = job;
      const isNews = changed.signal.aborted;
      // From here on: what changes while this is decided is looked at next.
      changed = new AbortController();
      if (isNews || clock.now() - begun < PROOF_MS) await proveEnd(context, decided);
      const decision = await decide(decided, await isSecretless());
      const end = await carryOut(context, decided, decision, notAdoptable);
      if (end !== null) return end;
      await clock.sleep(isHidden ? HIDDEN_LOOK_MS : pause, isHidden ? leaving : changed.signal);
      logWaiting();
      if (!isHidden || leaving.aborted) continue;
      // An API server that does not answer says nothing about the Job.
      const found = await lookAgain(context.connection, request.namespace, conflict).catch(() => job);
      if (found === null) return { kind: "free" };
      job = found;
    }
    if (gone.signal.aborted) waits.gone.add(conflict.uid);
    return { kind: ended.aborted ? "free" : "timeout" };
  } finally {
    subscription.close();
    settled.listeners.delete(onSettled);
    leaving.removeEventListener("abort", wake);
  }
}

/** For how many seconds the Job's CLI may work; null = nothing limits it but the Job's deadline, a day or so. */
export function timeLimit(
  { annotations, deadlineSeconds }: Pick<JobView, "annotations" | "deadlineSeconds">,
  keys: RunKeys,
): number | null {
  // Other adapters' Jobs have their time limit as their deadline.
  if (annotations[keys.runner] === undefined) return deadlineSeconds;
  const seconds = Number(annotations[keys.timeLimit]);
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds : null;
}

const WAIT: LockDecision = { kind: "wait" };

type Decider = (job: JobView, neverStarted: boolean) => Promise<LockDecision>;

/** Decides about the Job at once, when it finishes or turns out never to have started, and every now and then. */
function createDecider(context: RunContext, notAdoptable: ReadonlySet<string>): Decider {
  const { clock, io, run, request, settled } = context;
  let askedAt = Number.NEGATIVE_INFINITY;
  let finishedAt: number | null = null;
  let knownToHaveEnded = false;
  let removing: string | null = null;
  let knownNotToStart = false;
  const decide: Decider = async (job, neverStarted) => {
    const owner = { ...lockOwnerOf(context, job), ...(neverStarted && { neverStarted }) };
    const isNews = (owner.finished && finishedAt === null) || (owner.ended && !knownToHaveEnded) || (neverStarted && !knownNotToStart);
    knownNotToStart ||= neverStarted;
    if (isNews) askedAt = Number.NEGATIVE_INFINITY;
    if (owner.finished) finishedAt ??= clock.now();
    knownToHaveEnded ||= owner.ended;
    void settled.jobs.get(owner.uid)?.free();
    const isAbandoned = finishedAt !== null && clock.now() - finishedAt >= ABANDONED_MS;
    const isDenied = notAdoptable.has(owner.uid);
    if (isDenied && isAbandoned) return { kind: "remove", why: "it has finished, and this account may not adopt it" };
    const isNobodys = settled.jobs.has(owner.uid) || (io.onLockConflict === undefined && owner.runId !== request.runId);
    // What this server has left, because its host may not have the result, is the next server's.
    if (context.ending?.aborted && settled.jobs.has(owner.uid)) return WAIT;
    if (neverStarted && io.onLockConflict === undefined) return { kind: "remove", why: "it never got its Secret, so it cannot start" };
    if (isNobodys) return isAbandoned || isRetained(context, job) ? { kind: "remove", why: "nobody else removes it" } : WAIT;
    if (clock.now() - askedAt < run.timeouts.lockDecision) return WAIT;
    askedAt = clock.now();
    const decision = await askAbout(context, owner);
    // The agent of a Job that is to be taken over may be waiting for this run's token.
    if (decision.kind === "wait" && decision.undecided) askedAt = clock.now() - run.timeouts.lockDecision + UNDECIDED_MS;
    return isDenied && decision.kind === "adopt" ? WAIT : decision;
  };
  return async (job, neverStarted) => {
    const isOurs = job.annotations[request.keys.runner] !== undefined;
    if (!isOurs || job.deletedAt !== null || job.resourceVersion === removing) return WAIT;
    // It was to be removed as it was, and has changed since: the decision may be another one now.
    if (removing !== null) askedAt = Number.NEGATIVE_INFINITY;
    const decision = await decide(job, neverStarted);
    removing = decision.kind === "remove" ? job.resourceVersion : null;
    return decision;
  };
}

/** Null = go on waiting. */
export async function carryOut(
  context: RunContext,
  job: JobView,
  decision: LockDecision,
  notAdoptable: Set<string>,
): Promise<LockWaitEnd | null> {
  // A Job under another name that has ended is in nobody's way, and stays.
  const isPast = hasEnded(context, job) && job.name !== context.submission.jobName;
  if (isPast && decision.kind !== "adopt") return { kind: "free" };
  if (decision.kind === "wait") return null;
  if (decision.kind === "remove" && isRetained(context, job) && context.submission.nthName < JOB_NAMES) return { kind: "retained" };
  if (decision.kind === "remove") return remove(context, job, decision.why);
  if (decision.kind === "blocked") return problemEnd({ kind: "lock-taken", by: conflictFacts(context, job), waitedMs: 0, decision });
  const result = await adopt(context, job);
  if (result.kind === "adopted" || result.kind === "problem") return result;
  if (isPast || result.kind === "denied") notAdoptable.add(job.uid);
  return isPast ? { kind: "free" } : null;
}

/** It was to stay for debugging. Only a run that was asked to keep its Job makes one that does not expire. */
export const isRetained = (context: RunContext, job: JobView): boolean => isOver(context, job) && !job.expires;

/** Only as it was when it was decided about: another run may have adopted it since. Its files stay. */
async function remove(context: RunContext, job: JobView, why: string): Promise<LockWaitEnd | null> {
  const { connection, request, leaving } = context;
  const runId = ownerOf(job, request.keys);
  const what = hasEnded(context, job) ? "finished Job" : "Job";
  log(context, "warning", `removing ${what} ${job.name}${runId === null ? "" : ` of run ${runId}`}: ${why}`);
  const propagation = needNotWaitForPod(context, job) ? "Background" : "Foreground";
  const files = propagation === "Foreground" ? readAnnotations(context, job)?.files : undefined;
  if (files !== undefined) await forbidStart(context, files);
  let result = "changed" as DeleteResult;
  const problem = await removeConflict(context, job.name, true, async () => {
    result = await deleteJobAsSeen(connection, request.namespace, job, { propagation, signal: leaving });
  });
  const isFree = result === "gone" || result === "replaced" || (result === "deleted" && propagation === "Background");
  if (isFree) context.goneJobs.add(job.uid);
  return problem ?? (isFree ? { kind: "free" } : null);
}

/** Says what is waited for, and now and then that it is still so: a host gives up a run that says nothing. */
function createWaitingLine(context: RunContext, job: JobView): () => void {
  const { clock, run } = context;
  const { keepalive, keepaliveMost } = run.timeouts;
  const begun = clock.now();
  let logAt = begun + LOG_AFTER_MS;
  let pause = keepalive;
  let still = "";
  return () => {
    const now = clock.now();
    if (now < logAt) return;
    const by = conflictFacts(context, job);
    log(
      context,
      "info",
      `${still}waiting for ${conflictText(by)}, which holds ${keyText(by)}${still && `; for ${seconds(now - begun)} so far`}`,
    );
    [logAt, pause, still] = [now + pause, Math.min(2 * pause, keepaliveMost), "still "];
  };
}
