import { deleteJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import type { ClusterFact } from "../kube/watch/run-watch.ts";
import { retryTransient } from "../retry.ts";
import { type RunContext, say } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { notStarted } from "../start/not-started.ts";
import { isFinished, type LockDecision, lockOwnerOf, ofRun } from "./lock-owner.ts";
import { type Adoption, adopt } from "./take-over.ts";

/** A finished Job is its own server's to remove; after this long there is none. */
const OWNER_PATIENCE_MS = 10_000;
/** The Job of the run before is often just going: no news for anybody. */
const TELL_AFTER_MS = 1000;
const LOOK_MS = 500;

/** `free`: the name may be tried for again, by who is still wanted. */
export type LockWaitEnd =
  | { readonly kind: "free" | "out-of-patience" }
  | { readonly kind: "adopted"; readonly adoption: Adoption }
  | { readonly kind: "refused"; readonly why: OutcomeKind };

const WAIT: LockDecision = { kind: "wait" };

/** Waits until the holder of the key is gone, or is found to be this run's to take over. */
export async function waitForLock(context: RunContext, holder: JobView, patience: number): Promise<LockWaitEnd> {
  const { clock, io, watch } = context;
  const deadline = clock.now() + patience;
  const wait = new AbortController();
  const ended = AbortSignal.any([wait.signal, io.signal, ...(io.detach ? [io.detach] : [])]);
  let current: JobView = holder;
  const listen = (fact: ClusterFact) => {
    if (fact.kind === "job") current = fact.job;
    if (fact.kind === "job-gone") wait.abort();
  };
  const subscription = watch.subscribe(holder.name, listen, holder.uid);
  const teller = createTeller(context, holder);
  const judge = createJudge(context, ended);
  try {
    while (!ended.aborted && clock.now() < deadline) {
      const judged = current;
      const verdict = judged.deletedAt === null ? await judge(judged) : WAIT;
      const end = await act(context, judged, verdict);
      if (end !== null) return end;
      await clock.sleep(LOOK_MS, ended);
      teller();
    }
    return { kind: ended.aborted ? "free" : "out-of-patience" };
  } finally {
    subscription.close();
  }
}

/** Null = go on waiting. */
async function act(context: RunContext, job: JobView, verdict: LockDecision): Promise<LockWaitEnd | null> {
  const { keys } = context.request;
  // One that is over and has another name is in nobody's way: it need not go.
  const isPast = isFinished(job) && job.name !== context.submission.jobName;
  if (isPast && verdict.kind !== "adopt") return { kind: "free" };
  if (verdict.kind === "wait") return null;
  if (verdict.kind === "blocked") {
    const { code, message } = verdict;
    return { kind: "refused", why: { kind: "blocked", code, message, byJob: job.name, byRun: job.annotations[keys.runId] ?? null } };
  }
  try {
    if (verdict.kind === "remove") await remove(context, job, verdict.why);
    const result = verdict.kind === "adopt" ? await adopt(context, job) : null;
    return result?.kind === "adopted" || result?.kind === "refused" ? result : null;
  } catch (error) {
    return { kind: "refused", why: notStarted("job-create-failed", `Job ${job.name}, which holds the key, could not be removed`, error) };
  }
}

type Judge = (job: JobView) => Promise<LockDecision>;

/** What to do with the holder, asked at once, when it finishes, and every now and then. */
function createJudge(context: RunContext, ended: AbortSignal): Judge {
  const { clock, io, run, request, settled } = context;
  let askedAt = Number.NEGATIVE_INFINITY;
  let finishedAt: number | null = null;
  let removing: string | null = null;
  return async (job) => {
    const holder = lockOwnerOf(job, request.keys);
    if (!holder.ours || job.resourceVersion === removing) return WAIT;
    // It was to go as it was, and has changed since: somebody else may have it now.
    if (removing !== null) askedAt = Number.NEGATIVE_INFINITY;
    if (holder.finished && finishedAt === null) {
      finishedAt = clock.now();
      askedAt = Number.NEGATIVE_INFINITY;
    }
    settled.hurry(holder.uid);
    const due = clock.now() - askedAt >= run.timeouts.judge;
    if (due) askedAt = clock.now();
    const isSettled = settled.has(holder.uid);
    let verdict = WAIT;
    // The very same run was started again, after a restart: nothing to ask.
    if (due && holder.runId === request.runId && !isSettled) verdict = { kind: "adopt" };
    else if (io.onLockConflict === undefined || isSettled) {
      const isAbandoned = finishedAt !== null && clock.now() - finishedAt >= OWNER_PATIENCE_MS;
      if (isAbandoned) verdict = { kind: "remove", why: "nobody else removes it" };
    } else if (due) verdict = await unlessAborted(io.onLockConflict(holder), ended);
    removing = verdict.kind === "remove" ? job.resourceVersion : null;
    return verdict;
  };
}

/** A caller that takes its time does not hold up a cancel; one that fails has not answered. */
export function unlessAborted(answer: Promise<LockDecision>, ended: AbortSignal): Promise<LockDecision> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(WAIT);
    ended.addEventListener("abort", giveUp, { once: true });
    if (ended.aborted) giveUp();
    answer.then(resolve, giveUp).finally(() => ended.removeEventListener("abort", giveUp));
  });
}

function createTeller(context: RunContext, holder: JobView): () => void {
  const tellAt = context.clock.now() + TELL_AFTER_MS;
  let told = false;
  return () => {
    if (told || context.clock.now() < tellAt) return;
    told = true;
    say(context, "info", `waiting for Job ${holder.name}${ofRun(holder, context.request.keys)}, which holds ${whichKey(context, holder)}`);
  };
}

/** One key has one name: under another one it is a wider or a narrower key, or the Job of somebody who names them otherwise. */
export function whichKey({ submission }: RunContext, holder: JobView): string {
  return holder.name === submission.jobName ? "the same key" : "a key that overlaps";
}

/** Only as it was when it was judged; its files stay. */
async function remove(context: RunContext, job: JobView, why: string): Promise<void> {
  const { connection, request, io } = context;
  const what = isFinished(job) ? "finished Job" : "Job";
  say(context, "warning", `removing ${what} ${job.name}${ofRun(job, request.keys)}: ${why}`);
  const { uid, resourceVersion } = job;
  const options = { uid, resourceVersion, propagation: "Foreground", signal: io.signal } as const;
  await retryTransient(context, `Job ${job.name} cannot be removed`, () => deleteJob(connection, request.namespace, job.name, options));
}
