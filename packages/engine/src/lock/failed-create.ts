import { systemClock } from "../clock.ts";
import { getJob } from "../kube/calls.ts";
import { backoffMs } from "../kube/send-request.ts";
import type { JobView } from "../kube/views.ts";
import { deleteJob } from "../kube/writes.ts";
import { errorFacts, isCertainlyNotApplied } from "../retry.ts";
import type { RunContext } from "../run-context.ts";
import { type Problem, problemEnd } from "./conflicting-jobs.ts";

const LOOK_TIMEOUT_MS = 3000;
const ORPHAN_CALL = { timeoutMs: 5000, retry: { attempts: 1 } };
const ORPHAN_PAUSE = { minMs: 2000, maxMs: 30_000 };
/** An API server may carry out a request this long after nobody waits for its answer any more. */
const LATE_MS = 60_000;
const ORPHAN_TIMEOUT_MS = 900_000;

type FailedCreate = { readonly kind: "created"; readonly job: JobView } | Problem;

/**
 * A create whose answer was lost, or not waited for, may have made our Job: then the run goes on with it. Where that cannot be seen, the Job, if it
 * exists, is deleted later. It has not started in any case, since its pod needs a Secret that nobody has made.
 */
export async function failedCreate(context: RunContext, error: unknown): Promise<FailedCreate> {
  const { request, submission } = context;
  const rejected = (unknown: boolean) => problemEnd({ kind: "create-rejected", unknown, error: errorFacts(error) });
  if (isCertainlyNotApplied(error)) return rejected(false);
  const isOurs = ({ annotations }: JobView) => annotations[request.keys.nonce] === submission.nonce;
  const found = await lookForJob(context, submission.jobName, isOurs);
  if (found !== null && found !== "unknown") return { kind: "created", job: found };
  void deleteOrphanLater(context, submission.jobName, isOurs);
  return rejected(found === "unknown");
}

/** The Job of that name if it is this run's, after a request whose answer was lost; null = it is not. */
export async function lookForJob(
  { connection, request }: RunContext,
  name: string,
  isOurs: (job: JobView) => boolean,
): Promise<JobView | null | "unknown"> {
  try {
    const job = await getJob(connection, request.namespace, name, { timeoutMs: LOOK_TIMEOUT_MS });
    return job !== null && isOurs(job) ? job : null;
  } catch {
    return "unknown";
  }
}

/**
 * Deletes, after the result was given, the Job that a request whose answer was lost may have left: no other run knows of it, and it would hold its key
 * for a day. Does not keep the server from exiting.
 */
export async function deleteOrphanLater(
  { connection, request }: RunContext,
  name: string,
  isOurs: (job: JobView) => boolean,
): Promise<void> {
  const owner = { key: request.keys.runId, runId: request.runId };
  const begun = systemClock.now();
  const age = () => systemClock.now() - begun;
  for (let failures = 1; age() < ORPHAN_TIMEOUT_MS; failures++) {
    try {
      const lastLook = age() >= LATE_MS;
      const job = await getJob(connection, request.namespace, name, ORPHAN_CALL);
      if (job !== null && isOurs(job))
        return void (await deleteJob(connection, request.namespace, job, { ...ORPHAN_CALL, owner, propagation: "Foreground" }));
      if (lastLook) return;
      await systemClock.sleep(Math.max(0, LATE_MS - age()), undefined, false);
    } catch {
      await systemClock.sleep(backoffMs(ORPHAN_PAUSE, failures, Math.random), undefined, false);
    }
  }
}
