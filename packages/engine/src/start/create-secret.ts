import { isTransient } from "../kube/api-error.ts";
import { createSecret } from "../kube/writes.ts";
import { secretManifest } from "../manifest/secret.ts";
import { errorFacts, isCertainlyNotApplied, retryCreate, retryInBackground } from "../retry.ts";
import { log, messageOf, type RunContext } from "../run-context.ts";

/** Creates the Secret without which the pod of the run's new Job cannot start. An adopted Job has its own. */
export async function start(context: RunContext): Promise<void> {
  const { connection, request, submission, run, io } = context;
  const { jobUid, adopted } = run.state.identity;
  if (adopted || jobUid === null) return;
  const manifest = secretManifest(request, submission, jobUid, await context.wakeUp());
  const create = (options: { readonly signal?: AbortSignal; readonly retry?: { readonly attempts: number } }) =>
    createSecret(connection, request.namespace, manifest, options);
  try {
    // A cancelled run does not need it any more; one that detaches leaves a Job that does.
    const untilCancel = (signal: AbortSignal) => create({ signal: AbortSignal.any([io.signal, signal]) });
    await retryCreate(context, "the run's Secret cannot be created", untilCancel);
  } catch (error) {
    // A cancelled run is followed until its Job is deleted, with or without a Secret.
    if (io.signal.aborted) return;
    if (isRejected(error)) return run.observe({ kind: "start-problem", problem: rejected(submission.secretName, error) });
    // The Secret may exist, only its answer was lost, and then the pod runs. So the run is followed.
    log(context, "warning", `Secret ${submission.secretName} is not confirmed yet; trying again while the run is followed`);
    void confirmLater(context, async () => void (await create({ retry: { attempts: 1 } })));
  }
}

async function confirmLater(context: RunContext, create: () => Promise<void>): Promise<void> {
  const { secretName } = context.submission;
  const end = await retryInBackground(context, create, isRejected);
  if (end === "done") log(context, "info", `Secret ${secretName} is there`);
  else if (end !== "left") log(context, "warning", `Secret ${secretName} was refused, so the pod cannot start: ${messageOf(end.error)}`);
}

const isRejected = (error: unknown): boolean => isCertainlyNotApplied(error) && !isTransient(error);

const rejected = (secret: string, error: unknown) => ({ kind: "secret-rejected", secret, error: errorFacts(error) }) as const;
