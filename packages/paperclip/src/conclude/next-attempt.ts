import type { AttemptStart } from "../prepare/attempt.ts";
import { unansweredMessages } from "../prepare/messages.ts";
import { sessionAfterAdoption } from "../prepare/resume-fingerprint.ts";
import { missingOf, toolsHelp, toolsNote } from "../prepare/tools/choice.ts";
import type { AttemptResult } from "./attempts.ts";
import { failureOf } from "./failure.ts";

/** Another attempt within the same run that may succeed where the last one could not. */
interface NextAttempt {
  /** Why, for the run's log. */
  readonly note: string;
  readonly start: AttemptStart;
}

/** Null = the run ends with this attempt. Each next attempt starts with something changed, so that nothing is tried twice. */
export function nextAttempt(result: AttemptResult): NextAttempt | null {
  return afterFailure(result) ?? afterAdoption(result);
}

/** The start of the attempt that follows this one, with nothing else changed. */
function startAfter({ attempt: { number, sessionId, without, setOwnership, tools } }: AttemptResult): AttemptStart {
  return { number: number + 1, sessionId, without, setOwnership, tools, place: null };
}

function afterFailure(result: AttemptResult): NextAttempt | null {
  const { outcome, fault } = result;
  const start = startAfter(result);
  const { sessionId, without } = start;
  if (outcome.kind === "never-started" && outcome.cause === "claim-not-writable" && !start.setOwnership)
    return { note: `${outcome.message}; giving it to that user and starting again`, start: { ...start, setOwnership: true } };
  if (outcome.kind === "never-started" && outcome.cause === "nothing-to-adopt")
    return { note: `${outcome.message}; starting this run's own`, start };
  const missing = missingOf(outcome);
  if (missing !== null && start.tools === null && toolsHelp(missing, result.attempt.inputs))
    return { note: `${toolsNote(missing, result.attempt.inputs)}; starting again`, start: { ...start, tools: missing } };
  if (outcome.kind !== "exited" || fault === null) return null;
  if (fault.unknownOption !== undefined && !without.includes(fault.unknownOption)) {
    const note = `the CLI in the image does not know ${fault.unknownOption}; starting it again without that`;
    return { note, start: { ...start, without: [...without, fault.unknownOption] } };
  }
  if (sessionId === null) return null;
  const fresh = { ...start, sessionId: null };
  if (fault.kind === "unknown-session")
    return { note: `session ${sessionId} is not known to the CLI any more${whatWasRestored(result)}; starting a fresh one`, start: fresh };
  if (fault.kind === "corrupted-session")
    return { note: `session ${sessionId} cannot go on (${fault.message}); starting a fresh one`, start: fresh };
  return null;
}

/** The likeliest reasons are that nothing was saved, or that another version of the CLI saved it. */
function whatWasRestored({ outcome }: AttemptResult): string {
  const { state } = outcome.evidence;
  if (state === null) return "";
  if (state.restored === null) return " (nothing was saved for this task)";
  return ` (what was restored was saved at ${state.restored.at}${state.restored.version ? ` by version ${state.restored.version}` : ""})`;
}

/**
 * A host may add a new comment to the run that continues a lost one. The Job that this run took over does not know that comment, so an
 * attempt of its own answers it afterwards, within the same run. A Job that failed is started again by the host, with the comment in its prompt.
 */
function afterAdoption(result: AttemptResult): NextAttempt | null {
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
