import { isForbidden, isInvalid, isNotFound } from "../cluster/api-error.ts";
import { createSecret, deleteJob } from "../cluster/calls.ts";
import type { JobView } from "../cluster/views.ts";
import { secretManifest } from "../manifest/secret.ts";
import { admit } from "./admit.ts";
import { cancelReason, type RunContext, say } from "./io.ts";
import type { OutcomeKind, StartFailure } from "./outcome.ts";
import { persist } from "./persist.ts";

/** Files, then the Job, then the Secret without which its pod cannot start. Ends with the Job accepted or with a fact that says why not. */
export async function submit(context: RunContext): Promise<void> {
  const refused = (await prepareFiles(context)) ?? (await createAll(context));
  if (refused !== null) context.run.observe({ kind: "not-submitted", why: refused });
}

async function prepareFiles({ volume, submission, request }: RunContext): Promise<OutcomeKind | null> {
  try {
    await volume.prepare(submission.files, process.getuid?.() === 0 ? request.user : null, request.folders);
    return null;
  } catch (error) {
    return notStarted("volume-unusable", `the shared volume at ${request.output.root} cannot be used`, error);
  }
}

async function createAll(context: RunContext): Promise<OutcomeKind | null> {
  const { run, request, io } = context;
  let job: JobView;
  try {
    if (io.signal.aborted) return cancelled(context);
    const admission = await admit(context);
    if ("refused" in admission) return io.signal.aborted ? cancelled(context) : admission.refused;
    job = admission.job;
  } catch (error) {
    return io.signal.aborted
      ? cancelled(context)
      : notStarted("job-create-failed", `Job ${context.submission.jobName} was not created`, error);
  }
  run.accepted(job.uid);
  say(context, "info", `Job ${request.namespace}/${job.name} accepted, ${deadlineText(context)}`);
  return giveSecret(context, job);
}

/** Once the Job exists a cancel is the follower's business: it deletes the Job, Secret or not. */
async function giveSecret(context: RunContext, job: JobView): Promise<OutcomeKind | null> {
  const { connection, request, submission, io } = context;
  const manifest = secretManifest(request, submission, job.uid);
  try {
    await persist(context, "the run's Secret cannot be created", () =>
      createSecret(connection, request.namespace, manifest, { signal: io.signal }),
    );
    return null;
  } catch (error) {
    if (io.signal.aborted) return null;
    await withdraw(context, job);
    return notStarted("secret-create-failed", `Secret ${submission.secretName} was not created`, error);
  }
}

/** Without its Secret the pod has provably not started: the Job may go. */
async function withdraw({ connection, request, ...context }: RunContext, job: JobView): Promise<void> {
  try {
    await deleteJob(connection, request.namespace, job.name, { uid: job.uid, propagation: "Foreground" });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say({ connection, request, ...context }, "warning", `Job ${job.name} could not be removed again: ${reason}; its deadline will end it`);
  }
}

function cancelled(context: RunContext): OutcomeKind {
  return { kind: "cancelled", reason: cancelReason(context.io.signal), exitCode: null, stopped: true };
}

function notStarted(cause: StartFailure, what: string, error: unknown): OutcomeKind {
  const permanent = isForbidden(error) || isNotFound(error) || isInvalid(error);
  return { kind: "never-started", cause, message: `${what}: ${error instanceof Error ? error.message : String(error)}`, permanent };
}

function deadlineText({ request, submission }: RunContext): string {
  const limit = request.limits.timeoutSec > 0 ? `time limit ${request.limits.timeoutSec} s` : "no time limit";
  return `${limit}; the Job ends after ${span(submission.deadlineSeconds)} at the latest`;
}

function span(seconds: number): string {
  return seconds < 2 * 3600 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
