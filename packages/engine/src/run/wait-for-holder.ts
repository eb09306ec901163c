import { deleteJob } from "../cluster/calls.ts";
import type { ClusterFact } from "../cluster/run-watch.ts";
import type { JobView } from "../cluster/views.ts";
import { type Adoption, adopt } from "./adopt.ts";
import { type HolderVerdict, holderOf, isFinished, ofRun } from "./holder.ts";
import { type RunContext, say } from "./io.ts";
import type { OutcomeKind } from "./outcome.ts";
import { persist } from "./persist.ts";

/** A finished Job is its own server's to remove; after this long there is none. */
const OWNER_PATIENCE_MS = 10_000;
/** The Job of the run before is often just going: no news for anybody. */
const TELL_AFTER_MS = 1000;
const LOOK_MS = 500;

/** `free`: the name may be tried for again. `over`: patience ran out, or nobody wants the run any more. */
export type HolderEnd =
  | { readonly kind: "free" }
  | { readonly kind: "over" }
  | { readonly kind: "adopted"; readonly adoption: Adoption }
  | { readonly kind: "refused"; readonly why: OutcomeKind };

const WAIT: HolderVerdict = { kind: "wait" };

/** Waits until the holder of the key is gone, or is found to be this run's to take over. */
export async function waitForHolder(context: RunContext, holder: JobView, patience: number): Promise<HolderEnd> {
  const { clock, io, watch, submission } = context;
  const deadline = clock.now() + patience;
  const wait = new AbortController();
  const ended = AbortSignal.any([wait.signal, io.signal, ...(io.detach ? [io.detach] : [])]);
  let current: JobView = holder;
  const listen = (fact: ClusterFact) => {
    if (fact.kind === "job") current = fact.job;
    if (fact.kind === "job-gone") wait.abort();
  };
  const subscription = watch.subscribe(submission.jobName, listen, holder.uid);
  const teller = createTeller(context, holder);
  const judge = createJudge(context, ended);
  try {
    while (!ended.aborted && clock.now() < deadline) {
      const verdict = current.deletedAt === null ? await judge(current) : WAIT;
      const end = await act(context, current, verdict);
      if (end !== null) return end;
      await clock.sleep(LOOK_MS, ended);
      teller();
    }
    return { kind: wait.signal.aborted ? "free" : "over" };
  } finally {
    subscription.close();
  }
}

/** Null = go on waiting. */
async function act(context: RunContext, job: JobView, verdict: HolderVerdict): Promise<HolderEnd | null> {
  const { keys } = context.request;
  if (verdict.kind === "wait") return null;
  if (verdict.kind === "blocked") {
    const { code, message } = verdict;
    return { kind: "refused", why: { kind: "blocked", code, message, byJob: job.name, byRun: job.annotations[keys.runId] ?? null } };
  }
  if (verdict.kind === "remove") {
    await remove(context, job, verdict.why);
    return null;
  }
  const result = await adopt(context, job);
  if (result.kind === "adopted" || result.kind === "refused") return result;
  return result.kind === "denied" ? null : { kind: "free" };
}

type Judge = (job: JobView) => Promise<HolderVerdict>;

/** What to do with the holder, asked at once, when it finishes, and every now and then. */
function createJudge(context: RunContext, ended: AbortSignal): Judge {
  const { clock, io, run, request, settled } = context;
  let askedAt = Number.NEGATIVE_INFINITY;
  let finishedAt: number | null = null;
  let removed = false;
  return async (job) => {
    const holder = holderOf(job, request.keys);
    if (!holder.ours || removed) return WAIT;
    if (holder.finished && finishedAt === null) {
      finishedAt = clock.now();
      askedAt = Number.NEGATIVE_INFINITY;
    }
    settled.hurry(holder.uid);
    const due = clock.now() - askedAt >= run.policy.judge;
    if (due) askedAt = clock.now();
    let verdict = WAIT;
    if (io.judgeHolder === undefined || settled.has(holder.uid)) {
      const abandoned = finishedAt !== null && clock.now() - finishedAt >= OWNER_PATIENCE_MS;
      if (abandoned) verdict = { kind: "remove", why: "nobody else removes it" };
    } else if (due) verdict = await unlessAborted(io.judgeHolder(holder), ended);
    // The very same run was started again, after a restart: nothing to ask.
    if (due && holder.runId === request.runId && !settled.has(holder.uid)) verdict = { kind: "adopt" };
    removed = verdict.kind === "remove";
    return verdict;
  };
}

/** A caller that takes its time does not hold up a cancel; one that fails has not answered. */
function unlessAborted(answer: Promise<HolderVerdict>, ended: AbortSignal): Promise<HolderVerdict> {
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
    say(context, "info", `waiting for Job ${holder.name}${ofRun(holder, context.request.keys)}, which holds the same key`);
  };
}

/** Its files stay. */
async function remove(context: RunContext, job: JobView, why: string): Promise<void> {
  const { connection, request, io } = context;
  const what = isFinished(job) ? "finished Job" : "Job";
  say(context, "warning", `removing ${what} ${job.name}${ofRun(job, request.keys)}: ${why}`);
  const options = { uid: job.uid, propagation: "Foreground", signal: io.signal } as const;
  await persist(context, `Job ${job.name} cannot be removed`, () => deleteJob(connection, request.namespace, job.name, options));
}
