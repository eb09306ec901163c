import { logLine, type RunContext, type StatusLine } from "../run-context.ts";
import { createKeepalive } from "./keepalive.ts";
import { createStatusLog } from "./status-lines.ts";

/** Logs what the run is doing, from its first request on: a line per change, and one now and then in a long silence. */
export function logStatus(context: Pick<RunContext, "run" | "io">): () => void {
  const { run } = context;
  const describe = createStatusLog();
  const keepalive = createKeepalive(run.timeouts);
  return run.onChange((before, after) => {
    const changes = readable(() => describe(before, after));
    const lines = [...changes, ...readable(() => keepalive(after, changes.length > 0))];
    for (const line of lines) logLine(context, line);
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
