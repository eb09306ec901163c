import type { AttemptResult } from "../../conclude/attempts.ts";
import { failureOf } from "../../conclude/failure.ts";
import { type NextAttempt, startAfter } from "../../conclude/next-attempt.ts";
import { unansweredMessages } from "../../prepare/messages.ts";
import { sessionAfterAdoption } from "../../prepare/resume-fingerprint.ts";

/**
 * A host may add a new comment to the run that continues a lost one. The Job that this run took over does not know that comment, so an
 * attempt of its own answers it afterwards, within the same run. A Job that failed is started again by the host, with the comment in its prompt.
 */
export function attemptAfterAdoption(result: AttemptResult): NextAttempt | null {
  const { adopted, attempt, report } = result;
  if (adopted === null || failureOf(result) !== null) return null;
  const late = unansweredMessages(attempt.inputs.ctx.context, adopted.job);
  if (late.length === 0) return null;
  const messages = late.length === 1 ? "a message" : `${late.length} messages`;
  const { sessionId, note } = sessionAfterAdoption(adopted, attempt.inputs, report.sessionId ?? attempt.sessionId);
  return {
    note: `Job ${adopted.job.name} was started before ${messages} that this run is to answer: starting an attempt for that${note === null ? "" : `; ${note}`}`,
    start: { ...startAfter(result), sessionId },
  };
}
