import { deleteJob } from "../cluster/calls.ts";
import { type RunContext, say } from "./io.ts";
import type { RunOutcome } from "./outcome.ts";
import { podIsOver } from "./pod-facts.ts";

const PATIENCE_MS = 5000;
const LATE_START_MS = 60_000;

/** Removes what the run made, unless somebody may still need it. A failure here is a warning and changes nothing. */
export async function cleanUp(context: RunContext, outcome: RunOutcome): Promise<void> {
  const { submission, request, volume, run } = context;
  const uid = run.state.identity.jobUid;
  const kept = whyKept(context, outcome);
  if (kept !== null) {
    if (uid !== null)
      say(context, "info", `${kept}: Job ${request.namespace}/${submission.jobName} and ${submission.files.output} are kept`);
    return;
  }
  const gone = uid === null || isGoing(run.state) || (await attempt(context, removeJob(context, uid, outcome)));
  // Under a pod that may still write, or start late, its files stay.
  if (!gone || (outcome.kind === "cancelled" && !outcome.stopped)) return;
  await attempt(context, volume.remove([submission.files.output, submission.files.meta, submission.files.claim]));
}

async function attempt(context: RunContext, act: Promise<unknown>): Promise<boolean> {
  try {
    await act;
    return true;
  } catch (error) {
    say(context, "warning", `cleaning up failed: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

/** Only a Job that is known to be over, cancelled or past its limit is deleted. */
function whyKept({ request }: RunContext, outcome: RunOutcome): string | null {
  if (request.retain) return "retained for debugging";
  switch (outcome.kind) {
    case "superseded":
      return "taken over by another run";
    case "lost-sight":
      return "the end was not seen";
    case "killed":
      if (outcome.by === "node-loss" && outcome.evidence.proof === "none") return "the node may come back";
      return outcome.evidence.output.complete ? null : "the end of the output is not proved";
    case "exited":
    case "timed-out":
      return outcome.evidence.output.complete ? null : "output is missing";
    default:
      return null;
  }
}

/** Deleted already, by a cancel or by somebody else: its pod's end frees the name. */
function isGoing(state: RunContext["run"]["state"]): boolean {
  return state.jobGoneAt !== null || state.job?.deletedAt != null;
}

async function removeJob({ connection, request, submission, run }: RunContext, uid: string, outcome: RunOutcome): Promise<void> {
  const { pod, podGoneAt, identity } = run.state;
  const podOver = podGoneAt !== null || podIsOver(pod, identity.container);
  await deleteJob(connection, request.namespace, submission.jobName, {
    uid,
    propagation: podOver ? "Background" : "Foreground",
    // A pod that has not started yet must not start behind the host's back: that is worth more patience.
    ...(outcome.kind === "never-started"
      ? { signal: AbortSignal.timeout(LATE_START_MS), retry: { attempts: 20 } }
      : { signal: AbortSignal.timeout(PATIENCE_MS) }),
  });
}
