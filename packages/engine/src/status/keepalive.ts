import type { RunState } from "../outcome/state.ts";
import type { StatusLine } from "./status-lines.ts";

/** Says that a silent run is alive, at most once per `interval` of silence; never for a run known to be over. */
export function createKeepalive(interval: number): (state: RunState) => StatusLine | null {
  let saidAt = 0;
  return (state) => {
    if (state.overAt !== null || state.outcome !== null || state.acceptedAt === null) return null;
    const lastSign = Math.max(state.lastOutputAt ?? state.acceptedAt, saidAt);
    if (state.now - lastSign < interval) return null;
    saidAt = state.now;
    const quiet = Math.round((state.now - (state.lastOutputAt ?? state.acceptedAt)) / 1000);
    const what = state.lastOutputAt === null ? "no output yet" : "no output";
    const blind = state.apiLostAt === null ? "" : "; the API server cannot be reached";
    return { level: "info", text: `Job ${state.identity.jobName}: ${what} for ${quiet} s${blind}` };
  };
}
