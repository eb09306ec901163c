import type { StatePoint } from "@paperclip-k8s/runner";
import { believedEnd, cliEnd, stateEvidence } from "../outcome/ended.ts";
import type { RunState } from "../outcome/state.ts";
import type { StatusLine } from "../run-context.ts";
import type { StateEvidence } from "../run-outcome.ts";

/** Where the session comes from, that it is saved, and where it stands when it could not be. */
export function sessionLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  const { restored } = after;
  if (before.restored === null && restored?.point)
    lines.push({ level: "info", text: `session restored (saved ${savedAt(restored.point)}, ${restored.ms} ms)` });
  if (before.savedPoint === null && after.savedPoint !== null) lines.push(...otherVersion(restored?.point ?? null, after.savedPoint));
  if (believedEnd(before) === null && believedEnd(after) !== null) lines.push(...endLines(before, after));
  if (before.outcome === null && after.outcome !== null && cliEnd(after) === null) lines.push(...standingLines(after));
  return lines;
}

function endLines(before: RunState, after: RunState): StatusLine[] {
  const evidence = stateEvidence(after);
  if (evidence === null) return [];
  const { saved, last, error, saveMs } = evidence;
  const known = before.savedPoint ?? before.restored?.point ?? null;
  if (!saved) return [{ level: "warning", text: `session not saved: ${error ?? "no reason given"}; ${standing(evidence)}` }];
  if (last === null) return [];
  if (last.generation === known?.generation) return [{ level: "info", text: `session unchanged since it was saved at ${last.at}` }];
  const text = `session saved (${size(last.bytes)}, ${saveMs ?? 0} ms)`;
  return [...(before.savedPoint === null ? otherVersion(evidence.restored, last) : []), { level: "info", text }];
}

/** The CLI was killed before it could be saved. */
function standingLines(state: RunState): StatusLine[] {
  const evidence = stateEvidence(state);
  const goesOn = state.outcome?.kind === "detached" || state.outcome?.kind === "superseded";
  return evidence === null || goesOn ? [] : [{ level: "warning", text: standing(evidence) }];
}

/** Where the next run of this conversation will begin. */
export function standing({ last }: Pick<StateEvidence, "last">): string {
  return last === null ? "nothing of the session is known to be saved" : `the session stands as it was saved at ${last.at}`;
}

function otherVersion(was: StatePoint | null, is: StatePoint): StatusLine[] {
  if (!was?.version || !is.version || was.version === is.version) return [];
  return [{ level: "info", text: `the session was saved by CLI version ${was.version} and goes on with ${is.version}` }];
}

const savedAt = ({ at, version, bytes }: StatePoint): string => `${at}${version ? ` by CLI version ${version}` : ""}, ${size(bytes)}`;

function size(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
