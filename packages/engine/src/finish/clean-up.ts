import { isRefused, isTransient } from "../kube/api-error.ts";
import { type RunContext, say } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { deleteOwnJob } from "./delete-own-job.ts";

const PATIENCE_MS = 5000;
const LATE_START_MS = 60_000;
const LATER_MS = 10_000;
const LATER_TRIES = 60;

export interface CleanUpOptions {
  /** Some time after the result. */
  readonly late: boolean;
  readonly done: () => void;
}

/**
 * Removes what the run made, unless somebody may still need it. A failure here is a warning and changes nothing.
 * The result waits for it a while; what is left then goes on behind it, until `done`.
 */
export async function cleanUp(context: RunContext, outcome: RunOutcome, { late, done }: CleanUpOptions): Promise<void> {
  const patience = 2 * PATIENCE_MS + (outcome.kind === "never-started" ? LATE_START_MS : 0);
  await Promise.race([removeAll(context, outcome, late).finally(done), pause(patience)]);
}

async function removeAll(context: RunContext, outcome: RunOutcome, late: boolean): Promise<void> {
  const { request, volume, run } = context;
  const { jobName, jobUid: uid, files } = run.state.identity;
  const kept = whyKept(context, outcome);
  if (kept !== null) {
    const job = isGoing(run.state) ? "" : `Job ${request.namespace}/${jobName} and `;
    if (uid !== null) say(context, "info", `${kept}: ${job}${files.output} ${job === "" ? "is" : "are"} kept`);
    return;
  }
  // Who stops its Job goes on with that, and the caller does not wait; under a pod that may still write its files stay.
  if (outcome.kind === "cancelled" && !outcome.stopped && uid !== null) return;
  const gone = uid === null || isGoing(run.state) || (await remove(context, uid, outcome, late));
  // One that may start late needs them too.
  if (!gone) return;
  await attempt(context, volume.remove([files.output, files.meta, files.lock]));
}

/** A Job that an API server in trouble keeps is removed when that is back: left alone it would stay for a day. */
async function remove(context: RunContext, uid: string, outcome: RunOutcome, late: boolean): Promise<boolean> {
  // A pod that has not started yet must not start behind the host's back: that is worth more patience.
  const options = outcome.kind === "never-started" ? { withinMs: LATE_START_MS, attempts: 20 } : { withinMs: PATIENCE_MS };
  for (let tries = 1; ; tries++) {
    try {
      const taken = await deleteOwnJob(context, uid, { asSeen: late, ...options });
      if (taken !== null)
        say(context, "info", `Job ${context.run.state.identity.jobName} was taken over by run ${taken} meanwhile and is kept`);
      return taken === null;
    } catch (error) {
      // An API server that has just come back refuses for a moment what it permits.
      const passing = isTransient(error) || isTimeout(error) || (tries > 1 && isRefused(error));
      const again = passing && tries <= LATER_TRIES;
      if (tries === 1 || !again) tell(context, error, again);
      if (!again) return false;
      await pause(LATER_MS);
    }
  }
}

const isTimeout = (error: unknown): boolean => error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");

/** Does not keep a server from exiting. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

function tell(context: RunContext, error: unknown, again: boolean): void {
  const reason = error instanceof Error ? error.message : String(error);
  say(context, "warning", `cleaning up failed: ${reason}${again ? "; trying on in the background" : ""}`);
}

async function attempt(context: RunContext, act: Promise<unknown>): Promise<boolean> {
  try {
    await act;
    return true;
  } catch (error) {
    tell(context, error, false);
    return false;
  }
}

/** Only a Job that is known to be over, cancelled or past its limit is deleted. */
export function whyKept({ request }: RunContext, outcome: RunOutcome): string | null {
  if (request.retain) return "retained for debugging";
  switch (outcome.kind) {
    case "detached":
      return outcome.evidence.jobUid === null ? null : "the agent goes on, and the next run takes it over";
    case "superseded":
      return "taken over by another run";
    case "lost-sight":
    case "reattach-failed":
      return "the end was not seen";
    case "killed":
      if (outcome.by === "node-loss" && outcome.evidence.proof === "none") return "the node may come back";
      return outcome.evidence.output.complete ? null : "the end of the output is not proved";
    case "deleted":
      return outcome.evidence.output.complete || hasNotRun(outcome) ? null : "the end of the output is not proved";
    case "exited":
    case "timed-out":
      return outcome.evidence.output.complete ? null : "output is missing";
    default:
      return null;
  }
}

function hasNotRun({ evidence: { container, timings, output, proof } }: RunOutcome): boolean {
  const isIdle = container === null || container.kind === "waiting";
  return isIdle && proof === "none" && timings.started === null && output.delivered === 0 && output.problem === null;
}

/** Deleted already, by a cancel or by somebody else: its pod's end frees the name. */
function isGoing(state: RunContext["run"]["state"]): boolean {
  return state.jobGoneAt !== null || state.job?.deletedAt != null;
}
