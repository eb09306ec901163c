import { systemClock } from "../clock.ts";
import { type Deferred, deferred } from "../deferred.ts";
import { isFinished } from "../kube/views.ts";
import { awaitView } from "../kube/watch/await-view.ts";
import { log, type RunContext } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { addSettled } from "../settled-jobs.ts";
import { cleanUp, propagationFor, whyKept } from "./clean-up.ts";

/** These have a result that only the Job and its files could give again. */
const WITH_RESULT: ReadonlySet<RunOutcome["kind"]> = new Set(["exited", "timed-out", "killed"]);
/** A Job whose status still changes is deleted so much later at most: a delete that meets a change has to be made again. */
const STATUS_MS = 5000;

/**
 * Cleans up before the result is given, or `lingerMs` after it, so that a caller that dies before it has stored the result finds the Job again.
 * `release` is called when nothing of the run is needed any more.
 */
export async function finish(context: RunContext, outcome: RunOutcome, lingerMs: number, release: () => void): Promise<void> {
  const { run, settled, ending } = context;
  const { jobUid } = run.state.identity;
  const goesOn = outcome.kind === "detached" || outcome.kind === "superseded";
  const ended = propagationFor(run.state) === "Background";
  // Why a Job is kept for good is logged before the result.
  const lingers = lingerMs > 0 && WITH_RESULT.has(outcome.kind) && whyKept(context, outcome) === null;
  if (jobUid !== null && lingers) {
    const wanted = deferred<void>();
    const tried = deferred<void>();
    addSettled(settled, jobUid, { ended, free: freeing(wanted, tried) });
    systemClock.after(lingerMs, () => void statusSettled(context, jobUid).then(wanted.resolve));
    if (ending?.aborted) log(context, "info", "this server is ending: Job and files are kept until the result is known to be stored");
    void wanted.promise.then(() => {
      // The result may be the only copy besides them.
      if (!ending?.aborted) return cleanUp(context, outcome, { late: true, tried: tried.resolve, done: release });
      tried.resolve();
      release();
    });
    return;
  }
  if (jobUid !== null && !goesOn) addSettled(settled, jobUid, { ended, free: nothingToFree });
  await cleanUp(context, outcome, { late: false, tried: () => {}, done: release });
}

// Made out here: a closure keeps all that the function around it shares with any closure, and settled Jobs are known for long.
const nothingToFree = () => Promise.resolve();
const freeing = (wanted: Deferred<void>, tried: Deferred<void>) => () => {
  wanted.resolve();
  return tried.promise;
};

/** Resolves when the cluster has written the Job's last status, or some time later. */
async function statusSettled({ watch, run }: RunContext, uid: string): Promise<void> {
  const seen = watch.job(uid);
  if (seen === "gone" || (seen !== null && isFinished(seen))) return;
  await awaitView(watch, { name: run.state.identity.jobName, uid }, isFinished, systemClock, STATUS_MS);
}
