import type { Evidence } from "@paperclip-k8s/engine";
import { workspaceOf } from "../prepare/environment/workspace.ts";
import { fingerprintOf, fingerprintOfJob } from "../prepare/resume-fingerprint.ts";
import { sessionParamsOut } from "../prepare/session.ts";
import type { AttemptResult } from "./attempts.ts";

/** Whether the next run can resume the session. `maybe`: it tries, but nothing is promised to the host. */
export type KeptSession = "yes" | "no" | "maybe";

interface SessionLeft {
  readonly kept: KeptSession;
  readonly sessionId: string | null;
  readonly params: Record<string, unknown> | null;
}

export const NO_SESSION: SessionLeft = { kept: "no", sessionId: null, params: null };

/** The session that the next run of this task is given. */
export function sessionLeft({ attempt, adopted, report, outcome }: AttemptResult): SessionLeft {
  const { ctx, cwd, config } = attempt.inputs;
  const fingerprint = adopted === null ? fingerprintOf(attempt.inputs) : fingerprintOfJob(adopted);
  const reported = report.sessionId ?? attempt.sessionId;
  const resumed = reported !== null && reported === attempt.sessionId;
  const kept = keptSession(fingerprint?.stateMode ?? null, outcome.evidence.state, resumed);
  const workspace = workspaceOf(ctx.context, config.cwd);
  const sessionId = kept === "no" ? null : reported;
  const stateSigned = isStateSigned(outcome.evidence, fingerprint?.stateMode === "portable" && !resumed);
  const params = sessionParamsOut({ sessionId, previous: ctx.runtime.sessionParams, cwd, fingerprint, workspace, stateSigned });
  return { kept, sessionId: params === null ? null : sessionId, params };
}

/**
 * Whether the session's saved state is signed; null = the run saved nothing new of a session it had resumed, so what was noted before still
 * holds. A session that this run began is noted even if nothing of it was saved: no earlier version can have left a state of it.
 */
function isStateSigned({ signed, state }: Evidence, begun: boolean): boolean | null {
  const isNew = state?.saved === true && state.last !== null && state.last.generation !== state.restored?.generation;
  return isNew || begun ? signed : null;
}

/** `mode`: where the run's sessions are kept; null = not known. `resumed`: the session is the one that the run began with. */
export function keptSession(mode: string | null, state: Evidence["state"], resumed: boolean): KeptSession {
  // It is gone with its pod.
  if (mode === "ephemeral") return "no";
  // The CLI itself keeps it.
  if (mode === "dedicated_pvc" || mode === "own") return "yes";
  // A resumed session is still there as it was before, even if what this run did in it is lost.
  if (state === null) return resumed ? "yes" : "maybe";
  if (state.saved) return state.last === null ? "no" : "yes";
  // Killed before or while it was saved, or a fresh session beside an older save.
  if (state.last === null) return state.saveMs === null ? "maybe" : "no";
  return resumed ? "yes" : "maybe";
}

/** A warning for the log when the CLI left nothing where its sessions are looked for: the next run then starts afresh. */
export function lostSession({ attempt: { inputs }, report, outcome }: AttemptResult): string | null {
  const saved = outcome.evidence.state;
  if (inputs.state.mode !== "portable" || report.sessionId === null || saved === null || !saved.saved || saved.last !== null) return null;
  const places = (inputs.cli.state?.parts ?? []).map(({ path }) => `~/${path}`).join(", ");
  return `session ${report.sessionId} is not kept: the CLI left nothing in ${places}; the next run of this task begins anew`;
}
