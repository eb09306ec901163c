import { systemClock } from "../clock.ts";
import { deferred } from "../deferred.ts";
import type { RunContext } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { cleanUp, whyKept } from "./clean-up.ts";

/** A Job whose result was given is deleted within minutes, if it is deleted at all. */
const MOST_FINISHED = 1000;
/** These have a result that only the Job and its files could give again. */
const WITH_RESULT: ReadonlySet<RunOutcome["kind"]> = new Set(["exited", "timed-out", "killed"]);

/**
 * Cleans up before the result is given, or `lingerMs` after it, so that a caller that dies before it has stored the result finds the Job again.
 * `release` is called when nothing of the run is needed any more.
 */
export async function finish(context: RunContext, outcome: RunOutcome, lingerMs: number, release: () => void): Promise<void> {
  const { run, finished } = context;
  const { jobUid } = run.state.identity;
  const goesOn = outcome.kind === "detached" || outcome.kind === "superseded";
  // Why a Job is kept for good is logged before the result.
  const lingers = lingerMs > 0 && WITH_RESULT.has(outcome.kind) && whyKept(context, outcome) === null;
  if (jobUid !== null && lingers) {
    const { promise, resolve } = deferred<void>();
    systemClock.after(lingerMs, resolve);
    remember(finished, jobUid, resolve);
    void promise.then(() => cleanUp(context, outcome, true, release));
    return;
  }
  if (jobUid !== null && !goesOn) remember(finished, jobUid, () => {});
  await cleanUp(context, outcome, false, release);
}

export function remember(finished: RunContext["finished"], uid: string, deleteNow: () => void): void {
  finished.set(uid, deleteNow);
  const [oldest] = finished.keys();
  if (finished.size > MOST_FINISHED && oldest !== undefined) finished.delete(oldest);
}
