import { systemClock } from "../clock.ts";
import { isAccessDenied, isBadCertificate, isTransient, isUnauthorized } from "../kube/api-error.ts";
import type { JobView } from "../kube/views.ts";
import { awaitView } from "../kube/watch/await-view.ts";
import { isNewer } from "../kube/watch/object-cache.ts";
import { type DeleteJobResult, deleteJob, type Propagation } from "../kube/writes.ts";
import { believedEnd } from "../outcome/ended.ts";
import { podHasEnded } from "../outcome/pod-facts.ts";
import type { RunState } from "../outcome/state.ts";
import { removablePaths } from "../request.ts";
import { log, messageOf, type RunContext } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import type { VolumeError } from "../volume/volume-error.ts";

const DELETE_TIMEOUT_MS = 5000;
/** A pod that has not started must not start after the result was given: its Job is worth more time. */
const UNSTARTED_TIMEOUT_MS = 60_000;
/** A change that the API server knows of is in the watch within milliseconds, unless something is wrong. */
const VIEW_TIMEOUT_MS = 300;
const KEEP_TIMEOUT_MS = 60_000;
const LATER_PAUSE_MS = 10_000;
const LATER_TRIES = 60;
/** How often the API server may deny it: one that has just come back knows the account's rights by then. */
const DENIED_TRIES = 3;

interface CleanUp {
  /** Some time after the result, so that another run may have adopted the Job. */
  readonly late: boolean;
  /** The first try to delete the Job was answered, or failed. */
  readonly tried: () => void;
  readonly done: () => void;
}

/**
 * Removes what the run made, unless somebody may still need it. A failure is logged and changes nothing.
 * The result waits for it for a while; the rest goes on in the background, until `done`.
 */
export async function cleanUp(context: RunContext, outcome: RunOutcome, how: CleanUp): Promise<void> {
  const timeoutMs = 2 * DELETE_TIMEOUT_MS + (outcome.kind === "never-started" ? UNSTARTED_TIMEOUT_MS : 0);
  const ended = removeAll(context, outcome, how).finally(() => {
    how.tried();
    how.done();
  });
  await Promise.race([ended, pause(timeoutMs)]);
}

async function removeAll(context: RunContext, outcome: RunOutcome, how: CleanUp): Promise<void> {
  const { request, volume, run } = context;
  const { jobName, jobUid, files } = run.state.identity;
  const kept = whyKept(context, outcome);
  if (kept !== null) {
    const job = isGoing(run.state) ? "" : `Job ${request.namespace}/${jobName} and `;
    if (jobUid !== null) log(context, "info", `${kept}: ${job}${files.output} ${job === "" ? "is" : "are"} kept`);
    return;
  }
  // Stopping this Job goes on in the background, and a pod that may still run may write to its files.
  if (outcome.kind === "cancelled" && !outcome.stopped && jobUid !== null) return;
  const gone = jobUid === null || isGoing(run.state) || (await removeJob(context, outcome, how));
  // A Job that could not be deleted may still start, and needs its files.
  if (!gone) return;
  await keepOutput(context);
  await volume.remove(removablePaths(files)).catch((error: unknown) => logFailure(context, error, false));
}

/** What the operator wants to have of the output after the run; a run that was never started has none. */
async function keepOutput(context: RunContext): Promise<void> {
  const { request, volume, run } = context;
  const { keep } = request.output;
  if (keep == null || keep.bytes === 0) return;
  const { path: to, ...limits } = keep;
  await volume.run("keepEnd", { ...limits, from: run.state.identity.files.output, to }, KEEP_TIMEOUT_MS).catch((error: VolumeError) => {
    if (error.code !== "volume_missing") log(context, "warning", `the end of the output is not kept: ${messageOf(error)}`);
  });
}

/** A Job that cannot be deleted while the API server is in trouble is deleted when that has passed: left alone it would stay for a day. */
async function removeJob(context: RunContext, outcome: RunOutcome, { late, tried }: CleanUp): Promise<boolean> {
  const isUnstarted = outcome.kind === "never-started";
  let denied = 0;
  for (let tries = 1; ; tries++) {
    try {
      const result = await deleteOwnJob(context, late, isUnstarted).finally(tried);
      if (typeof result !== "object") return true;
      const { name, annotations } = result.taken;
      log(context, "info", `Job ${name} was taken over by run ${annotations[context.request.keys.runId]} meanwhile and is kept`);
      return false;
    } catch (error) {
      // An API server that has just come back denies for a moment what it allows, and a certificate may just be being replaced.
      const isRefused = isUnauthorized(error) || isBadCertificate(error) || (isAccessDenied(error) && ++denied <= DENIED_TRIES);
      const passes = isTransient(error) || isTimeout(error) || isRefused;
      const again = passes && tries <= LATER_TRIES;
      if (tries === 1 || !again) logFailure(context, error, again);
      if (!again) return false;
      await pause(LATER_PAUSE_MS);
    }
  }
}

function deleteOwnJob(context: RunContext, late: boolean, isUnstarted: boolean): Promise<DeleteJobResult> {
  const { connection, request, run, watch } = context;
  // The watch may have seen more of the Job than the run, which no longer listens to it.
  const seen = watch.job(run.state.identity.jobUid ?? "");
  const job = seen === null || seen === "gone" ? run.state.job : seen;
  // One that has lost the labels by which the watch finds it only looks as if it were gone.
  if (job === null || (seen === "gone" && hasLabels(job, request.selector))) return Promise.resolve("gone");
  return deleteJob(connection, request.namespace, job, {
    owner: { key: request.keys.runId, runId: request.runId },
    propagation: propagationFor(run.state),
    // Just after the end the Job's status changes, and each change would cost two requests. Later there was time for another run to adopt it.
    exact: late || believedEnd(run.state) === null,
    newer: (version) => awaitView(watch, job, ({ resourceVersion }) => isNewer(resourceVersion, version), systemClock, VIEW_TIMEOUT_MS),
    signal: AbortSignal.timeout(isUnstarted ? UNSTARTED_TIMEOUT_MS : DELETE_TIMEOUT_MS),
    ...(isUnstarted ? { retry: { attempts: 20 } } : {}),
  });
}

const hasLabels = ({ labels }: JobView, selector: string): boolean =>
  selector.split(",").every((term) => labels[term.slice(0, term.indexOf("="))] === term.slice(term.indexOf("=") + 1));

/**
 * The Job's name is free at once where nothing of its pod can write any more. With an end record that is so before the pod has ended: the runner
 * writes the record after it has saved the state and ended the CLI with its processes, and it is the last thing it writes to the volume.
 */
export function propagationFor(state: RunState): Propagation {
  const hasEnded = believedEnd(state) !== null || state.podGoneAt !== null || podHasEnded(state.pod, state.identity.container);
  return hasEnded ? "Background" : "Foreground";
}

const isTimeout = (error: unknown): boolean => error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");

/** Real time, since it limits real requests. Does not keep the server from exiting. */
const pause = (ms: number): Promise<void> => systemClock.sleep(ms, undefined, false);

function logFailure(context: RunContext, error: unknown, again: boolean): void {
  const why = isTimeout(error) ? "the API server did not carry out the deletion in time" : messageOf(error);
  log(context, "warning", `cleaning up failed: ${why}${again ? "; trying again in the background" : ""}`);
}

/** Why the Job and its files stay; null = they are deleted. Only a Job that is known to have ended, was cancelled or is past its deadline is deleted. */
export function whyKept({ request }: RunContext, outcome: RunOutcome): string | null {
  if (request.retain) return "retained for debugging";
  switch (outcome.kind) {
    case "detached":
      return outcome.evidence.jobUid === null ? null : "the agent goes on, and the next run takes it over";
    case "superseded":
      return "taken over by another run";
    case "end-unknown":
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
  const isWaiting = container === null || container.kind === "waiting";
  return isWaiting && proof === "none" && timings.started === null && output.delivered === 0 && output.problem === null;
}

/** Somebody has deleted it already; its name is free when its pod has ended. */
const isGoing = ({ jobGoneAt, job }: RunState): boolean => jobGoneAt !== null || job?.deletedAt != null;
