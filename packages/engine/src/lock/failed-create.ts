import { ApiError } from "../kube/api-error.ts";
import { getJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import type { RunContext } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { notStarted } from "../start/not-started.ts";
import { deleteOrphanLater } from "./delete-orphan-later.ts";

const LOOK_TIMEOUT_MS = 3000;

/**
 * A create whose answer was lost, or not waited for, may have made our Job: then the run goes on with it. Where that cannot be seen, the run
 * has still not started, since nobody has made the Secret without which no pod of it can; the Job, if there is one, is removed behind it.
 */
export async function failedCreate(
  context: RunContext,
  error: unknown,
): Promise<{ readonly job: JobView } | { readonly refused: OutcomeKind }> {
  const { jobName, nonce } = context.submission;
  const isOurs = ({ annotations }: JobView) => annotations[context.request.keys.nonce] === nonce;
  if (isCertainlyNot(error)) return { refused: notStarted("job-create-failed", `Job ${jobName} was not created`, error) };
  const found = await look(context);
  if (found !== "unknown" && found !== null && isOurs(found)) return { job: found };
  void deleteOrphanLater(context, jobName, isOurs).catch(() => {});
  const what =
    found === "unknown" ? `whether Job ${jobName} was created is not known, but it has not started` : `Job ${jobName} was not created`;
  return { refused: notStarted("job-create-failed", what, error) };
}

/** The API server has said no, or was never reached: nothing was made. Anything else leaves that open. */
export function isCertainlyNot(error: unknown): boolean {
  return error instanceof ApiError && !error.maybeApplied;
}

async function look({ connection, request, submission }: RunContext): Promise<JobView | null | "unknown"> {
  try {
    return await getJob(connection, request.namespace, submission.jobName, { timeoutMs: LOOK_TIMEOUT_MS });
  } catch {
    return "unknown";
  }
}
