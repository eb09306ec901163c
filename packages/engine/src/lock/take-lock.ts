import { createJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import { retryTransient } from "../retry.ts";
import { cancelReason, type RunContext } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { conflictingJob } from "./conflicting-jobs.ts";
import { failedCreate } from "./failed-create.ts";
import { type HeldKey, holdKey } from "./held-keys.ts";
import { ofRun } from "./lock-owner.ts";
import type { Adoption } from "./take-over.ts";
import { takeListed } from "./take-over-listed.ts";
import { waitForLock, whichKey } from "./wait-for-lock.ts";

/** A create that is under way is waited for when the run is cancelled: broken off, it could still make a Job nobody knows of. */
const CREATE_GRACE_MS = 8000;
/** As long as a create is tried. */
const LIST_PATIENCE_MS = 120_000;
const LOOK_MS = 50;

export type Admission = { readonly job: JobView } | { readonly adopted: Adoption } | { readonly refused: OutcomeKind };

/**
 * Creates the Job. Its name is the lock: who gets a 409 waits until the Job of that name is gone, or takes it over. So does who sees a Job
 * under another name whose key overlaps: one key has one name, but what runs share may be set otherwise from one to the next.
 */
export async function admit(context: RunContext): Promise<Admission> {
  const { run, clock, io } = context;
  const begun = clock.now();
  const unseen = await lookAround(context);
  if (unseen !== null) return { refused: unseen };
  const taken = await takeListed(context);
  if (taken !== null) return taken;
  for (;;) {
    const leaving = askedToLeave(io) ?? cancelled(io);
    if (leaving !== null) return { refused: leaving };
    const tried = await tryFor(context);
    if (tried === null) {
      await clock.sleep(LOOK_MS, io.signal);
      continue;
    }
    if (!("holder" in tried)) return tried;
    const { holder } = tried;
    const left = run.timeouts.admission - (clock.now() - begun);
    const end = await waitForLock(context, holder, left);
    if (end.kind === "adopted") return { adopted: end.adoption };
    if (end.kind === "refused") return { refused: end.why };
    if (end.kind === "out-of-patience") return { refused: blocked(context, holder, clock.now() - begun) };
  }
}

/** Nobody who has not seen the Jobs that are there knows whether the key is free. */
async function lookAround({ request, watch, clock, io }: RunContext): Promise<OutcomeKind | null> {
  if (request.exclusive === null) return null;
  const enough = new AbortController();
  const late = clock.sleep(LIST_PATIENCE_MS, AbortSignal.any([enough.signal, io.signal, ...(io.detach ? [io.detach] : [])]));
  const seen = await Promise.race([watch.listed.then(() => true), late.then(() => false)]).catch(() => false);
  enough.abort();
  if (seen || io.signal.aborted || io.detach?.aborted) return null;
  const message = `the Jobs of namespace ${request.namespace} could not be listed within ${LIST_PATIENCE_MS / 1000} s, so it is not known whether another run holds the same key`;
  return { kind: "never-started", cause: "job-create-failed", message, permanent: false };
}

type Tried = { readonly job: JobView } | { readonly holder: JobView } | { readonly refused: OutcomeKind };

/** The run's own Job, or the one that is in its way; null = one is just being created here, and is not to be seen yet. */
async function tryFor(context: RunContext): Promise<Tried | null> {
  const { request, watch, run } = context;
  const rival = request.exclusive === null ? null : await conflictingJob(context);
  if (rival !== null) return { holder: rival };
  const key = holdKey(watch, request.exclusive);
  if (key === null) return null;
  run.admitted();
  return create(context, key);
}

async function create(context: RunContext, key: HeldKey): Promise<Tried> {
  const { request, submission, connection, io } = context;
  const late = abortLater(io.signal, CREATE_GRACE_MS);
  let job: JobView | null = null;
  try {
    const result = await retryTransient(context, "the Job cannot be created", () =>
      createJob(connection, request.namespace, submission.job, { signal: late.signal }),
    );
    const found = "created" in result ? result.created : result.existing;
    if (!("created" in result) && found.annotations[request.keys.nonce] !== submission.nonce) return { holder: found };
    job = found;
    return { job };
  } catch (error) {
    const after = await failedCreate(context, error);
    if ("job" in after) job = after.job;
    return after;
  } finally {
    late.stop();
    if (job === null) key.free();
    else key.freeWhenSeen(job);
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

/** Somebody who is asked to leave does not wait for a key. */
function askedToLeave({ detach }: RunContext["io"]): OutcomeKind | null {
  return detach?.aborted ? { kind: "detached", reason: cancelReason(detach) } : null;
}

function cancelled({ signal }: RunContext["io"]): OutcomeKind | null {
  return signal.aborted ? { kind: "cancelled", reason: cancelReason(signal), exitCode: null, stopped: true } : null;
}

function blocked(context: RunContext, holder: JobView, waited: number): OutcomeKind {
  const byRun = holder.annotations[context.request.keys.runId] ?? null;
  const owner = ofRun(holder, context.request.keys);
  const message = `Job ${context.request.namespace}/${holder.name}${owner} holds ${whichKey(context, holder)}; waited ${Math.round(waited / 1000)} s for it`;
  return { kind: "blocked", code: null, message, byJob: holder.name, byRun };
}
