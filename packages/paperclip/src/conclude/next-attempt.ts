import type { Start, Turn } from "../prepare/attempt.ts";
import type { Ending } from "./failure.ts";

/** Another attempt within the same run that may succeed where this one could not. */
export interface Remedy {
  readonly note: string;
  readonly start: Start;
}

/** Each remedy changes what the next attempt starts with, so that none is tried twice. */
export function remedyFor(turn: Turn, { outcome, fault }: Ending): Remedy | null {
  const { sessionId, without, setOwnership = false, attempt } = turn;
  const next = { sessionId, without, attempt: attempt + 1, ...(setOwnership ? { setOwnership } : {}) };
  if (outcome.kind === "never-started" && outcome.cause === "claim-not-writable" && !setOwnership)
    return { note: `${outcome.message}; giving it to that user and starting again`, start: { ...next, setOwnership: true } };
  if (outcome.kind !== "exited" || fault === null) return null;
  if (fault.unknownOption !== undefined && !without.includes(fault.unknownOption)) {
    const note = `the CLI in the image does not know ${fault.unknownOption}; starting it again without that`;
    return { note, start: { ...next, without: [...without, fault.unknownOption] } };
  }
  if (sessionId === null) return null;
  if (fault.kind === "unknown-session")
    return {
      note: `session ${sessionId} is not known to the CLI any more${whatWasThere(outcome)}; starting a fresh one`,
      start: { ...next, sessionId: null },
    };
  if (fault.kind === "spoilt-session")
    return { note: `session ${sessionId} cannot go on (${fault.message}); starting a fresh one`, start: { ...next, sessionId: null } };
  return null;
}

/** The likeliest reason: there was nothing to restore, or another version of the CLI saved it. */
function whatWasThere({ evidence: { state } }: Ending["outcome"]): string {
  if (state === null) return "";
  if (state.restored === null) return " (nothing was saved for this task)";
  return ` (what was restored was saved at ${state.restored.at}${state.restored.version ? ` by version ${state.restored.version}` : ""})`;
}

/** What all attempts of a run have used together. */
export function withEarlier(ending: Ending, earlier: readonly Ending[]): Ending {
  if (earlier.length === 0) return ending;
  const reports = [...earlier, ending].map(({ report }) => report);
  const sum = (key: "inputTokens" | "cachedInputTokens" | "outputTokens") => reports.reduce((total, report) => total + report[key], 0);
  const costs = reports.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const used = { inputTokens: sum("inputTokens"), cachedInputTokens: sum("cachedInputTokens"), outputTokens: sum("outputTokens") };
  const costUsd = costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0);
  return { ...ending, report: { ...ending.report, ...used, costUsd } };
}
