import { startupProblem } from "../outcome/startup-problem.ts";
import type { RunState } from "../outcome/state.ts";
import type { StatusLine } from "../run-context.ts";
import type { Timeouts } from "../timeouts.ts";

/**
 * Logs that a silent run is alive: soon at first, then less and less often, but never less often than the host needs it. `written`: other
 * lines were just logged. Nothing is logged for a run known to have ended.
 */
export function createKeepalive({
  keepalive,
  keepaliveMost,
}: Pick<Timeouts, "keepalive" | "keepaliveMost">): (state: RunState, written: boolean) => readonly StatusLine[] {
  let quietSince = 0;
  let pause = keepalive;
  return (state, written) => {
    if (state.endedAt !== null || state.outcome !== null || state.acceptedAt === null) return [];
    const heard = written ? state.now : (state.lastOutputAt ?? state.acceptedAt);
    if (heard > quietSince) [quietSince, pause] = [heard, keepalive];
    const problem = startupProblem(state)?.text ?? null;
    // A reason that is already in the log need not be read again soon.
    if (state.now - quietSince < (problem === null ? pause : keepaliveMost)) return [];
    quietSince = state.now;
    pause = Math.min(2 * pause, keepaliveMost);
    const api = state.apiLostAt === null ? "" : `; ${state.apiProblem ?? "the API server cannot be reached"}`;
    const text = `${silence(state, state.lastOutputAt ?? state.acceptedAt, problem)}${api}`;
    return [{ level: "info", text, ...(hasStarted(state) && problem === null ? { silence: true } : {}) }];
  };
}

const hasStarted = ({ lastOutputAt, cliStartedAt }: RunState): boolean => lastOutputAt !== null || cliStartedAt !== null;

function silence(state: RunState, since: number, problem: string | null): string {
  const { now, lastOutputAt } = state;
  const seconds = Math.round((now - since) / 1000);
  const time = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  if (problem !== null) return `still not started after ${time}: ${problem}`;
  if (!hasStarted(state)) return `not started yet after ${time}`;
  return `no output ${lastOutputAt === null ? "yet after" : "for"} ${time}`;
}
