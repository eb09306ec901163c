import { deleteJob } from "../cluster/calls.ts";
import { type RunContext, say } from "./io.ts";
import type { RunOutcome } from "./outcome.ts";
import { podIsOver } from "./pod-facts.ts";

const PATIENCE_MS = 5000;

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
  const results = await Promise.allSettled([
    uid === null || isGoing(run.state) ? null : removeJob(context, uid),
    volume.remove([submission.files.output, submission.files.meta, submission.files.claim]),
  ]);
  for (const result of results) {
    if (result.status === "rejected")
      say(context, "warning", `cleaning up failed: ${result.reason instanceof Error ? result.reason.message : result.reason}`);
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

async function removeJob({ connection, request, submission, run }: RunContext, uid: string): Promise<void> {
  const { pod, podGoneAt, identity } = run.state;
  const podOver = podGoneAt !== null || podIsOver(pod, identity.container);
  await deleteJob(connection, request.namespace, submission.jobName, {
    uid,
    propagation: podOver ? "Background" : "Foreground",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}
