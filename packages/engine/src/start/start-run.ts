import { isTransient } from "../kube/api-error.ts";
import { createSecret, deleteJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import { isCertainlyNot } from "../lock/failed-create.ts";
import { admit } from "../lock/take-lock.ts";
import type { Adoption } from "../lock/take-over.ts";
import { secretManifest } from "../manifest/secret.ts";
import { retryTransient } from "../retry.ts";
import { cancelReason, type RunContext, say, tellJob } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { checkAccess } from "./check-access.ts";
import { ensureClaims } from "./ensure-claims.ts";
import { notStarted } from "./not-started.ts";
import { retryInBackground } from "./retry-in-background.ts";

/** Files, then the Job, then the Secret without which its pod cannot start. Ends with the Job accepted or with a fact that says why not. */
export async function submit(context: RunContext): Promise<void> {
  const refused = (await prepareFiles(context)) ?? (await createAll(context));
  if (refused === null) return;
  // Somebody who cancelled is told of that, not of the trouble that came in between.
  const cancelledMeanwhile = context.io.signal.aborted && refused.kind !== "cancelled";
  context.run.observe({ kind: "not-submitted", why: cancelledMeanwhile ? cancelled(context) : refused });
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
  const { run, request } = context;
  const refused = await beforeCreate(context);
  if (refused !== null) return refused;
  const admission = await admit(context);
  if ("refused" in admission) return admission.refused;
  if ("adopted" in admission) return takeOver(context, admission.adopted);
  const { job } = admission;
  run.accepted(job.uid);
  tellJob(context, null);
  say(context, "info", `Job ${request.namespace}/${job.name} accepted, ${deadlineText(context)}`);
  return giveSecret(context, job);
}

/** What nobody would want to find out after the Job is made. */
async function beforeCreate(context: RunContext): Promise<OutcomeKind | null> {
  try {
    await retryTransient(context, "the run cannot be followed", () => checkAccess(context));
  } catch (error) {
    return notStarted("job-create-failed", "the run could not be followed to its end", error);
  }
  return context.io.signal.aborted ? cancelled(context) : ensureClaims(context);
}

/** The Job is there and at work, with files of its own: what was made for this run is not needed. */
function takeOver(context: RunContext, adoption: Adoption): null {
  const { run, volume, submission } = context;
  const { output, meta } = submission.files;
  run.adopted(adoption);
  tellJob(context, adoption);
  if (adoption.files.output !== output) volume.remove([output, meta]).catch(() => {});
  return null;
}

/** Once the Job exists a cancel is the follower's business: it deletes the Job, Secret or not. */
async function giveSecret(context: RunContext, job: JobView): Promise<OutcomeKind | null> {
  const { connection, request, submission, io } = context;
  const manifest = secretManifest(request, submission, job.uid);
  try {
    await retryTransient(context, "the run's Secret cannot be created", () =>
      createSecret(connection, request.namespace, manifest, { signal: io.signal }),
    );
    return null;
  } catch (error) {
    if (io.signal.aborted) return null;
    // Trouble that lasts: its answer may be what was lost, and then the pod runs. The submit is finished when the API server is back.
    if (!isCertainlyNot(error) || isTransient(error)) {
      say(context, "warning", `Secret ${submission.secretName} is not confirmed yet; trying on while the run is followed`);
      const isRefused = (again: unknown) => isCertainlyNot(again) && !isTransient(again);
      void retryInBackground(context, () => giveOnce(context, manifest), isRefused);
      return null;
    }
    await withdraw(context, job);
    return notStarted("secret-create-failed", `Secret ${submission.secretName} was not created`, error);
  }
}

async function giveOnce({ connection, request }: RunContext, manifest: Record<string, unknown>): Promise<void> {
  await createSecret(connection, request.namespace, manifest, { retry: { attempts: 1 } });
}

/** Without its Secret the pod has provably not started: the Job may go. */
async function withdraw(context: RunContext, job: JobView): Promise<void> {
  try {
    await deleteJob(context.connection, context.request.namespace, job.name, { uid: job.uid, propagation: "Foreground" });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(context, "warning", `Job ${job.name} could not be removed again: ${reason}; its deadline will end it`);
  }
}

function cancelled(context: RunContext): Extract<OutcomeKind, { kind: "cancelled" }> {
  return { kind: "cancelled", reason: cancelReason(context.io.signal), exitCode: null, stopped: true };
}

function deadlineText({ request, submission }: RunContext): string {
  const limit = request.limits.timeoutSec > 0 ? `time limit ${request.limits.timeoutSec} s` : "no time limit";
  return `${limit}; the Job ends after ${span(submission.deadlineSeconds)} at the latest`;
}

function span(seconds: number): string {
  return seconds < 2 * 3600 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
