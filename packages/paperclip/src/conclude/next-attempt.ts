import type { AttemptStart } from "../prepare/attempt.ts";
import type { AttemptResult } from "./attempts.ts";

/** Another attempt within the same run that may succeed where the last one could not. */
export interface NextAttempt {
  /** Why, for the run's log. */
  readonly note: string;
  readonly start: AttemptStart;
}

/** The start of the attempt that follows this one, with nothing else changed. */
export function startAfter({ attempt: { number, sessionId, without, setOwnership } }: AttemptResult): AttemptStart {
  return { number: number + 1, sessionId, without, setOwnership };
}

/** Each next attempt starts with something changed, so that nothing is tried twice. */
export function nextAttempt(result: AttemptResult): NextAttempt | null {
  const { outcome, fault } = result;
  const start = startAfter(result);
  const { sessionId, without } = start;
  if (outcome.kind === "never-started" && outcome.cause === "claim-not-writable" && !start.setOwnership)
    return { note: `${outcome.message}; giving it to that user and starting again`, start: { ...start, setOwnership: true } };
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
