import type { PodView } from "../cluster/views.ts";
import { mainContainer } from "./pod-facts.ts";
import { isTrouble } from "./start-failure.ts";
import type { RunState } from "./state.ts";

/** One line for people about what the run is doing. */
export interface StatusLine {
  readonly level: "info" | "warning";
  readonly text: string;
}

/** What a reader of the run should be told about the step from one state to the next. */
export function statusLines(before: RunState, after: RunState): StatusLine[] {
  return [...podLines(before, after), ...sightLines(before, after), ...endLines(before, after)];
}

function podLines(before: RunState, after: RunState): StatusLine[] {
  if (after.pod === null || after.pod === before.pod) return [];
  const lines: StatusLine[] = before.pod === null ? [{ level: "info", text: `pod ${after.pod.name} created` }] : [];
  const was = before.pod === null ? null : podText(before.pod, after.identity.container);
  const is = podText(after.pod, after.identity.container);
  if (is !== null && is.text !== was?.text) lines.push(is);
  return lines;
}

/** Null = nothing that the lines before have not told. */
function podText(pod: PodView, containerName: string): StatusLine | null {
  const info = (text: string): StatusLine => ({ level: "info", text });
  const warning = (text: string): StatusLine => ({ level: "warning", text });
  const scheduled = pod.conditions.PodScheduled;
  if (pod.node === null && scheduled?.status === "False") return warning(`pod not scheduled yet: ${scheduled.message ?? scheduled.reason}`);
  const disrupted = pod.conditions.DisruptionTarget;
  if (disrupted?.status === "True") return warning(`pod disrupted, ${disrupted.reason}: ${disrupted.message ?? ""}`);
  if (pod.reason !== null) return warning(`pod ${pod.reason}${pod.message === null ? "" : `: ${pod.message}`}`);
  const init = pod.initContainers.find((container) => container.state.kind === "terminated" && container.state.exitCode !== 0);
  if (init?.state.kind === "terminated") return warning(`init container ${init.name} exited with code ${init.state.exitCode}`);
  const state = mainContainer(pod, containerName)?.state;
  if (state?.kind === "running") return info(pod.deletedAt === null ? "container running" : "container stopping");
  if (state?.kind === "terminated") return info(`container ended with exit code ${state.exitCode} (${state.reason ?? "no reason"})`);
  if (state?.kind === "waiting" && state.reason !== null && isTrouble(state.reason))
    return warning(`${state.reason}${state.message === null ? "" : `: ${state.message}`}`);
  return pod.node === null ? null : info(`pod scheduled on node ${pod.node}`);
}

function sightLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  if (before.apiLostAt === null && after.apiLostAt !== null)
    lines.push({ level: "warning", text: "the API server cannot be reached; the run goes on, retrying" });
  if (before.apiLostAt !== null && after.apiLostAt === null) lines.push({ level: "info", text: "the API server is back" });
  if (before.stalled === null && after.stalled !== null)
    lines.push({ level: "warning", text: `the shared volume does not answer (${after.stalled.error}); output comes late` });
  if (before.stalled !== null && after.stalled === null) lines.push({ level: "info", text: "the shared volume answers again" });
  if (before.jobGoneAt === null && after.jobGoneAt !== null && after.cancel === null && after.overAt === null)
    lines.push({ level: "warning", text: `Job ${after.identity.jobName} is gone; waiting for what its pod has to say` });
  const told = new Set(before.events.map((event) => event.message));
  for (const event of after.events) {
    if (event.type === "Warning" && !told.has(event.message)) lines.push({ level: "warning", text: `${event.reason}: ${event.message}` });
  }
  return lines;
}

function endLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  if (before.cliStartedAt === null && after.cliStartedAt !== null) lines.push({ level: "info", text: "CLI started" });
  if (before.cancel === null && after.cancel !== null) lines.push({ level: "info", text: `cancelling: ${after.cancel.reason}` });
  if (before.endRecord === null && after.endRecord !== null) lines.push({ level: "info", text: endText(after) });
  return lines;
}

function endText(state: RunState): string {
  const end = state.endRecord;
  if (end === null) return "";
  const how = end.signal === null ? `exit code ${end.exitCode}` : `signal ${end.signal}`;
  const why = {
    exit: "",
    timeout: ", time limit reached",
    stopped: ", told to stop",
    "final-line": ", after its final line",
    "spawn-failed": ", not started",
  };
  return `CLI over: ${how}${why[end.cause]}, ${end.bytes} bytes of output`;
}
