import { backoffMs } from "../kube/send-request.ts";
import type { JobView } from "../kube/views.ts";
import { deleteJob } from "../kube/writes.ts";
import type { RunState } from "../outcome/state.ts";
import { isUneventful } from "../outcome/uneventful.ts";
import { log, messageOf, type RunContext } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { forbidStart } from "../start/forbid-start.ts";
import { mayPass } from "../volume/volume-error.ts";
import { confirmGone } from "./confirm-gone.ts";
import { createEventReader } from "./read-events.ts";
import { openTails, type Tails } from "./tails.ts";

const TICK_MS = 250;
/** While nothing but a long silence is counted. */
const QUIET_TICK_MS = 2500;
const STOP_PAUSE = { minMs: 1000, maxMs: 15_000 };
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

/** Deletes the Job of a cancelled run, unless another run owns it. Foreground: its name stays taken until its pod is gone. */
async function stopJob(context: RunContext): Promise<void> {
  const { connection, request, run, clock } = context;
  const owner = { key: request.keys.runId, runId: request.runId };
  const end = clock.now() + STOP_TIMEOUT_MS;
  const isWanted = () => run.state.outcome === null || (run.state.outcome.kind === "cancelled" && !run.state.outcome.stopped);
  let problem: string | null = null;
  for (let failures = 1; isWanted() && clock.now() < end; failures++) {
    const { job } = run.state;
    if (job === null) return;
    try {
      if (run.state.cliStartedAt === null && isOwn(context, job)) await forbidStart(context, run.state.identity.files);
      const result = await deleteJob(connection, request.namespace, job, { owner, propagation: "Foreground" });
      if (typeof result === "object") run.observe({ kind: "job", job: result.taken });
      else if (result !== "deleted") run.observe({ kind: "job-gone" });
      return;
    } catch (error) {
      if (problem === null) log(context, "warning", `Job ${job.name} cannot be deleted: ${messageOf(error)}; trying again`);
      problem = messageOf(error);
      await clock.sleep(backoffMs(STOP_PAUSE, failures, Math.random));
    }
  }
  if (problem !== null && isWanted())
    log(context, "warning", `Job ${run.state.identity.jobName} could not be deleted and may still work: ${problem}`);
}

/** As far as the watch has seen: another run that has taken the Job over may start its CLI. */
function isOwn({ request, watch }: RunContext, job: JobView): boolean {
  const seen = watch.job(job.uid);
  const { annotations } = seen === null || seen === "gone" ? job : seen;
  return annotations[request.keys.runId] === request.runId;
}

function once(effect: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    effect();
  };
}
