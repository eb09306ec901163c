import type { RunState } from "../outcome/state.ts";
import { log, type RunContext, type StatusLine } from "../run-context.ts";
import { createStatusLog } from "./status-lines.ts";

/** Logs what the run is doing, from its first request on: a line per change, and one now and then in a long silence. */
export function logStatus(context: Pick<RunContext, "run" | "io">): () => void {
  const { run } = context;
  const describe = createStatusLog();
  const keepalive = createKeepalive(run.timeouts.keepalive);
  return run.onChange((before, after) => {
    for (const { level, text, cli } of [...readable(() => describe(before, after)), ...readable(() => keepalive(after))])
      log(context, level, text, cli);
  });
}

/** Records are what an agent's pod wrote: a line that cannot be made of them is missing, and nothing else. */
function readable(lines: () => readonly StatusLine[]): readonly StatusLine[] {
  try {
    return lines();
  } catch (error) {
    return [{ level: "warning", text: `a change of the run cannot be described: ${error}` }];
  }
}

/** Logs that a silent run is alive, at most once per `interval` of silence; never for a run known to have ended. */
function createKeepalive(interval: number): (state: RunState) => readonly StatusLine[] {
  let writtenAt = 0;
  return (state) => {
    if (state.endedAt !== null || state.outcome !== null || state.acceptedAt === null) return [];
    const since = state.lastOutputAt ?? state.acceptedAt;
    if (state.now - Math.max(since, writtenAt) < interval) return [];
    writtenAt = state.now;
    const what = state.lastOutputAt === null ? "no output yet" : "no output";
    const api = state.apiLostAt === null ? "" : `; ${state.apiProblem ?? "the API server cannot be reached"}`;
    return [{ level: "info", text: `Job ${state.identity.jobName}: ${what} for ${Math.round((state.now - since) / 1000)} s${api}` }];
  };
}
