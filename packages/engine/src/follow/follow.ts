import type { RunState } from "../outcome/state.ts";
import { cancelReason, type RunContext } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { createEventReader } from "./read-events.ts";
import { stopJob } from "./stop-job.ts";
import { openTails, type Tails } from "./tails.ts";

const TICK_MS = 250;

/** Listens to the cluster, the files, the caller and the clock until the reducer knows how the run ended. */
export async function follow(context: RunContext): Promise<RunOutcome> {
  const { run, watch, clock, io } = context;
  const { jobName, jobUid } = run.state.identity;
  if (jobUid === null) return run.settled;
  const tails = openTails(context);
  const effects = effectsOf(context, jobUid, tails);
  const stops = [
    run.onChange((_, after) => effects(after)),
    clock.every(TICK_MS, () => run.observe({ kind: "tick" })),
    // After the listener: both may report at once what is known already.
    watch.subscribe(jobName, (fact) => run.observe(fact), jobUid).close,
    onAbort(io.signal, (reason) => run.observe({ kind: "cancel-asked", reason })),
    onAbort(io.detach, (reason) => run.observe({ kind: "detach-asked", reason })),
    tails.close,
  ];
  try {
    return await run.settled;
  } finally {
    for (const stop of stops) stop();
  }
}

/** Everything that a state of the run sets off while it is followed; what it logs is in status/. */
function effectsOf(context: RunContext, jobUid: string, tails: Tails): (state: RunState) => void {
  const stop = once(() => void stopJob(context, jobUid));
  const drainFiles = once(() => void drain(context, tails));
  const readEvents = createEventReader(context, jobUid);
  return (state) => {
    if (state.outcome !== null) return;
    if (state.cancel !== null) stop();
    if (state.overAt !== null) drainFiles();
    readEvents(state);
  };
}

/** Fresh looks at both files, again and again, from the moment the run is known to have ended until its outcome is known. */
async function drain({ run, clock }: RunContext, tails: Tails): Promise<void> {
  while (run.state.outcome === null) {
    try {
      run.observe({ kind: "drained", bytes: await tails.refresh() });
    } catch (error) {
      run.observe({ kind: "output-stalled", error: error instanceof Error ? error.message : String(error) });
    }
    await clock.sleep(TICK_MS);
  }
}

/** Calls back with the reason when the signal is aborted, or at once if it is; returns the removal. */
function onAbort(signal: AbortSignal | undefined, callback: (reason: string) => void): () => void {
  if (signal === undefined) return () => {};
  const listener = () => callback(cancelReason(signal));
  signal.addEventListener("abort", listener);
  if (signal.aborted) listener();
  return () => signal.removeEventListener("abort", listener);
}

function once(effect: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    effect();
  };
}
