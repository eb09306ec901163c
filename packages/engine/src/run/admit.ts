import { createJob } from "../cluster/calls.ts";
import type { JobView } from "../cluster/views.ts";
import type { Adoption } from "./adopt.ts";
import { ofRun } from "./holder.ts";
import { cancelReason, type RunContext } from "./io.ts";
import type { OutcomeKind } from "./outcome.ts";
import { persist } from "./persist.ts";
import { waitForHolder } from "./wait-for-holder.ts";

/** A create that is under way is waited for when the run is cancelled: broken off, it could still make a Job nobody knows of. */
const CREATE_GRACE_MS = 8000;

export type Admission = { readonly job: JobView } | { readonly adopted: Adoption } | { readonly refused: OutcomeKind };

/** Creates the Job. Its name is the lock: who gets a 409 waits until the Job of that name is gone, or takes it over. */
export async function admit(context: RunContext): Promise<Admission> {
  const { request, submission, run, connection, clock, io } = context;
  const begun = clock.now();
  for (;;) {
    const leaving = detached(io);
    if (leaving !== null) return { refused: leaving };
    run.admitted();
    const late = abortLater(io.signal, CREATE_GRACE_MS);
    const result = await persist(context, "the Job cannot be created", () =>
      createJob(connection, request.namespace, submission.job, { signal: late.signal }),
    ).finally(late.stop);
    if ("created" in result) return { job: result.created };
    const holder = result.existing;
    if (holder.annotations[request.keys.nonce] === submission.nonce) return { job: holder };
    const left = run.policy.admission - (clock.now() - begun);
    const end = await waitForHolder(context, holder, left);
    if (end.kind === "adopted") return { adopted: end.adoption };
    if (end.kind === "refused") return { refused: end.why };
    if (end.kind === "over") return { refused: detached(io) ?? blocked(context, holder, clock.now() - begun) };
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
export function detached({ detach }: RunContext["io"]): OutcomeKind | null {
  return detach?.aborted ? { kind: "detached", reason: cancelReason(detach) } : null;
}

function blocked(context: RunContext, holder: JobView, waited: number): OutcomeKind {
  const byRun = holder.annotations[context.request.keys.runId] ?? null;
  const owner = ofRun(holder, context.request.keys);
  const message = `Job ${context.request.namespace}/${holder.name}${owner} holds the same key; waited ${Math.round(waited / 1000)} s for it`;
  return { kind: "blocked", code: null, message, byJob: holder.name, byRun };
}
