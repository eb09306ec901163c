import { createJob, deleteJob } from "../cluster/calls.ts";
import type { ClusterFact } from "../cluster/run-watch.ts";
import type { JobView } from "../cluster/views.ts";
import { type RunContext, say } from "./io.ts";
import type { OutcomeKind } from "./outcome.ts";
import { persist } from "./persist.ts";

/** A finished Job is its own server's to remove; after this long there is none. */
const OWNER_PATIENCE_MS = 10_000;
/** A create that is under way is waited for when the run is cancelled: broken off, it could still make a Job nobody knows of. */
const CREATE_GRACE_MS = 8000;
/** The Job of the run before is often just going: no news for anybody. */
const TELL_AFTER_MS = 1000;

export type Admission = { readonly job: JobView } | { readonly refused: OutcomeKind };

/** Creates the Job. Its name is the lock: who gets a 409 waits until the Job of that name is gone. */
export async function admit(context: RunContext): Promise<Admission> {
  const { request, submission, run, connection, clock, io } = context;
  const begun = clock.now();
  for (;;) {
    run.admitted();
    const late = abortLater(io.signal, CREATE_GRACE_MS);
    const result = await persist(context, "the Job cannot be created", () =>
      createJob(connection, request.namespace, submission.job, { signal: late.signal }),
    ).finally(late.stop);
    if ("created" in result) return { job: result.created };
    const holder = result.existing;
    if (holder.annotations[request.keys.nonce] === submission.nonce) return { job: holder };
    const left = run.policy.admission - (clock.now() - begun);
    const freed = await waitUntilGone(context, holder, left);
    if (!freed) return { refused: blocked(context, holder, clock.now() - begun) };
  }
}

/** A signal that follows another one after a while. */
function abortLater(signal: AbortSignal, ms: number): { readonly signal: AbortSignal; readonly stop: () => void } {
  const later = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer = setTimeout(() => later.abort(signal.reason), ms);
  };
  signal.addEventListener("abort", begin, { once: true });
  if (signal.aborted) begin();
  const stop = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", begin);
  };
  return { signal: later.signal, stop };
}

function blocked(context: RunContext, holder: JobView, waited: number): OutcomeKind {
  const byRun = holder.annotations[context.request.keys.runId] ?? null;
  const owner = byRun === null ? "" : ` of run ${byRun}`;
  const message = `Job ${context.request.namespace}/${holder.name}${owner} holds the same key; waited ${Math.round(waited / 1000)} s for it`;
  return { kind: "blocked", message, byJob: holder.name, byRun };
}

/** True when the holder is gone; false when patience ran out or the run was cancelled. */
async function waitUntilGone(context: RunContext, holder: JobView, patience: number): Promise<boolean> {
  const { clock, io, watch, submission } = context;
  const deadline = clock.now() + patience;
  const wait = new AbortController();
  let current: JobView = holder;
  let gone = false;
  const listen = (fact: ClusterFact) => {
    if (fact.kind === "job") current = fact.job;
    gone ||= fact.kind === "job-gone";
    if (gone) wait.abort();
  };
  const subscription = watch.subscribe(submission.jobName, listen, holder.uid);
  const tellAt = clock.now() + TELL_AFTER_MS;
  try {
    let finishedAt: number | null = null;
    let told = false;
    while (!gone && !io.signal.aborted && clock.now() < deadline) {
      await clock.sleep(500, AbortSignal.any([wait.signal, io.signal]));
      if (!gone && !told && clock.now() >= tellAt) {
        told = true;
        say(context, "info", `waiting for Job ${holder.name}${holderRun(context, holder)}, which holds the same key`);
      }
      if (!isFinished(current) || current.deletedAt !== null) continue;
      finishedAt ??= clock.now();
      if (clock.now() - finishedAt < OWNER_PATIENCE_MS) continue;
      await removeFinished(context, current);
      finishedAt = Number.POSITIVE_INFINITY;
    }
    return gone;
  } finally {
    subscription.close();
  }
}

/** Nobody settled it: its server is gone, or it was kept to be looked at. Its files stay. */
async function removeFinished(context: RunContext, holder: JobView): Promise<void> {
  say(context, "warning", `removing finished Job ${holder.name}${holderRun(context, holder)}, which nobody else removes`);
  const options = { uid: holder.uid, propagation: "Foreground", signal: context.io.signal } as const;
  await persist(context, `Job ${holder.name} cannot be removed`, () =>
    deleteJob(context.connection, context.request.namespace, holder.name, options),
  );
}

function holderRun(context: RunContext, holder: JobView): string {
  const run = holder.annotations[context.request.keys.runId];
  return run === undefined ? "" : ` of run ${run}`;
}

function isFinished(job: JobView): boolean {
  return "Complete" in job.conditions || "Failed" in job.conditions;
}
