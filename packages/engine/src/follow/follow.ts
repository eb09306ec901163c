import { deleteJob } from "../kube/writes.ts";
import type { RunState } from "../outcome/state.ts";
import { isUneventful } from "../outcome/uneventful.ts";
import { log, messageOf, type RunContext } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { mayPass } from "../volume/volume-error.ts";
import { confirmGone } from "./confirm-gone.ts";
import { createEventReader } from "./read-events.ts";
import { openTails, type Tails } from "./tails.ts";

const TICK_MS = 250;
/** While nothing but a long silence is counted. */
const QUIET_TICK_MS = 2500;
const STOP_PAUSE_MS = 1000;
/** A volume that hangs does not keep the Job from being deleted. */
const CLAIM_TIMEOUT_MS = 500;
/** For this long after a result that could not confirm the cancel, it is still tried. */
const STOP_TIMEOUT_MS = 900_000;

/** Listens to the cluster, the files, the caller and the clock until the reducer knows how the run ended. */
export async function follow(context: RunContext): Promise<RunOutcome> {
  const { run, watch } = context;
  const { jobName, jobUid } = run.state.identity;
  if (jobUid === null) return run.settled;
  const tails = openTails(context);
  const effects = effectsOf(context, jobUid, tails);
  const confirmed = confirmGone(context, (fact) => run.observe(fact));
  const stops = [
    run.onChange((_, after) => effects(after)),
    tick(context),
    // After the listener: it reports at once what is known already.
    watch.subscribe(jobName, confirmed.listen, jobUid).close,
    confirmed.close,
    tails.close,
  ];
  // After what is known already: a run that has ended by itself is not left, even if that was asked before.
  run.observe({ kind: "follow-started" });
  try {
    return await run.settled;
  } finally {
    for (const stop of stops) stop();
  }
}

/** Lets the reducer see the time, often only while it waits for a time to pass: each tick wakes the server. */
function tick({ run, clock }: RunContext): () => void {
  const every = (ms: number) => ({ ms, stop: clock.every(ms, () => run.observe({ kind: "tick" })) });
  let ticks = every(intervalFor(run.state));
  const stopListening = run.onChange((_, after) => {
    const ms = intervalFor(after);
    if (ms === ticks.ms) return;
    ticks.stop();
    ticks = every(ms);
  });
  return () => {
    stopListening();
    ticks.stop();
  };
}

const intervalFor = (state: RunState): number => (isUneventful(state) ? QUIET_TICK_MS : TICK_MS);

/** Everything that a state of the run sets off while it is followed; what it logs is in status/. */
function effectsOf(context: RunContext, jobUid: string, tails: Tails): (state: RunState) => void {
  const stop = once(() => void stopJob(context));
  const drainFiles = once(() => void drain(context, tails));
  const readEvents = createEventReader(context, jobUid);
  return (state) => {
    if (state.outcome !== null) return;
    if (state.cancel !== null) stop();
    if (state.endedAt !== null) drainFiles();
    readEvents(state);
  };
}

/** Reads both files to their end, again and again, from the moment the run is known to have ended until its outcome is known. */
async function drain({ run, clock }: RunContext, tails: Tails): Promise<void> {
  while (run.state.outcome === null) {
    try {
      run.observe({ kind: "drained", bytes: await tails.refresh() });
    } catch (error) {
      run.observe({ kind: "output-stalled", error: messageOf(error), passes: mayPass(error) });
    }
    await clock.sleep(TICK_MS);
  }
}

/**
 * Takes the run's lock file, so that a runner which is just starting finds it taken and starts no CLI: the SIGTERM that follows would be lost
 * on a container's first process that has no handler for it yet. A runner that has the file hears the signal.
 */
async function forbidStart({ run, request, volume }: RunContext): Promise<void> {
  if (run.state.startRecord !== null) return;
  const { files } = run.state.identity;
  const text = `${JSON.stringify({ cancelled: request.runId })}\n`;
  // Without it the pod is killed at the end of its grace.
  await volume.run("claim", { path: files.lock, text }, CLAIM_TIMEOUT_MS).catch(() => false);
}

/** Deletes the Job of a cancelled run, unless another run owns it. Foreground: its name stays taken until its pod is gone. */
async function stopJob(context: RunContext): Promise<void> {
  const { connection, request, run, clock } = context;
  await forbidStart(context);
  const owner = { key: request.keys.runId, runId: request.runId };
  const end = clock.now() + STOP_TIMEOUT_MS;
  const isWanted = () => run.state.outcome === null || (run.state.outcome.kind === "cancelled" && !run.state.outcome.stopped);
  for (let logged = false; isWanted() && clock.now() < end; logged = true) {
    const { job } = run.state;
    if (job === null) return;
    try {
      const result = await deleteJob(connection, request.namespace, job, { owner, propagation: "Foreground" });
      if (typeof result === "object") run.observe({ kind: "job", job: result.taken });
      else if (result !== "deleted") run.observe({ kind: "job-gone" });
      return;
    } catch (error) {
      if (!logged) log(context, "warning", `Job ${job.name} cannot be deleted: ${messageOf(error)}; trying again`);
      await clock.sleep(STOP_PAUSE_MS);
    }
  }
}

function once(effect: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    effect();
  };
}
