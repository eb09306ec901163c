import type { PodView } from "../kube/views.ts";
import { disruption } from "../outcome/disruption.ts";
import { plain } from "../outcome/kubernetes-texts.ts";
import { childKilled, memoryOf } from "../outcome/memory.ts";
import { isStartError, mainContainer } from "../outcome/pod-facts.ts";
import { startError } from "../outcome/start-error.ts";
import { startupProblem } from "../outcome/startup-problem.ts";
import type { RunIdentity, RunState } from "../outcome/state.ts";
import { newsOf } from "./event-lines.ts";
import { stateLines } from "./session-lines.ts";

/** One line for people about what the run is doing. */
export interface StatusLine {
  readonly level: "info" | "warning";
  readonly text: string;
}

const info = (text: string): StatusLine => ({ level: "info", text });
const warning = (text: string): StatusLine => ({ level: "warning", text });

/** Tells a run's story, a line per change. It remembers what it said: trouble that comes and goes is told when it changes, not each time. */
export function createStatusLog(): (before: RunState, after: RunState) => StatusLine[] {
  let trouble = "";
  let last = "";
  const told = new Set<string>();
  const news = (lines: readonly StatusLine[]): StatusLine[] => {
    const unsaid = lines.filter(({ text }) => !told.has(text));
    for (const { text } of unsaid) told.add(text);
    return unsaid;
  };
  return (before, after) => {
    const lines = podLines(before, after);
    const now = startupProblem(after)?.text ?? null;
    if (now !== null && now !== trouble) {
      trouble = now;
      lines.push(warning(now));
    }
    const events = after.events === before.events ? [] : news(newsOf(after));
    const memory = memoryOf(after);
    const starved = memory.killed && !memoryOf(before).killed ? news([warning(childKilled(memory))]) : [];
    const rest = [...jobLines(before, after), ...sightLines(before, after), ...endLines(before, after), ...stateLines(before, after)];
    const all = [...lines, ...events, ...rest, ...starved];
    const said = all.filter(({ text }, place) => text !== (all[place - 1]?.text ?? last));
    last = all.at(-1)?.text ?? last;
    return said;
  };
}

function podLines(before: RunState, after: RunState): StatusLine[] {
  if (after.pod === null || after.pod === before.pod) return [];
  const lines: StatusLine[] = before.pod === null ? [info(podNews(after.pod, after.identity))] : [];
  const was = before.pod === null ? null : podText(before.pod, after.identity);
  const is = podText(after.pod, after.identity);
  if (is !== null && is.text !== was?.text) lines.push(is);
  return lines;
}

// One that was taken over is not new, and must not look like a second one.
const podNews = ({ name }: PodView, { adopted }: RunIdentity): string => (adopted ? `its pod is ${name}` : `pod ${name} created`);
const startNews = ({ adopted, firstRun }: RunIdentity): string => (adopted ? `CLI started by run ${firstRun}` : "CLI started");

/** Null = nothing that the lines before have not told, or that keeps it from starting: that is told as such. */
function podText(pod: PodView, { container, image }: RunIdentity): StatusLine | null {
  const disrupted = disruption(pod);
  if (disrupted !== null) return warning(disrupted.message);
  if (pod.reason !== null) return warning(`pod ${pod.reason}${pod.message === null ? "" : `: ${plain(pod.message)}`}`);
  const state = mainContainer(pod, container)?.state;
  if (state?.kind === "running" && pod.deletedAt !== null) return info("container stopping");
  if (state?.kind === "running") return isNodeSilent(pod) ? warning(silentNode(pod)) : info("container running");
  if (state?.kind === "terminated" && isStartError(state)) return warning(startError(state, image).message);
  if (state?.kind === "terminated" && state.reason === "ContainerStatusUnknown")
    return info("container gone; the node does not know how it ended");
  if (state?.kind === "terminated") return info(`container ended with exit code ${state.exitCode} (${state.reason ?? "no reason"})`);
  return pod.node === null ? null : info(`pod scheduled on node ${pod.node}`);
}

/** Without readiness probes a container that runs is ready, unless nobody has heard of its node for a while. */
function isNodeSilent({ conditions }: PodView): boolean {
  return conditions.Ready?.status === "False" && conditions.ContainersReady?.status === "True";
}

const silentNode = ({ node }: PodView): string => `node ${node} does not answer; the pod may still run there, waiting`;

function jobLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  if (after.job?.suspended && !before.job?.suspended && after.overAt === null) {
    const then = after.pod === null ? "waiting until somebody resumes it" : "its pod is stopped";
    lines.push(warning(`Job ${after.identity.jobName} was suspended (spec.suspend); ${then}`));
  }
  if (isLate(after) && !isLate(before)) lines.push(warning("the Job's deadline has passed (activeDeadlineSeconds)"));
  if (before.jobGoneAt === null && after.jobGoneAt !== null && after.cancel === null && after.overAt === null)
    lines.push(warning(`Job ${after.identity.jobName} is gone; waiting for what its pod has to say`));
  return lines;
}

const isLate = ({ job }: RunState): boolean => (job?.conditions.FailureTarget ?? job?.conditions.Failed)?.reason === "DeadlineExceeded";

function sightLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  if (before.apiLostAt === null && after.apiLostAt !== null)
    lines.push(warning(`${after.apiRefused ?? "the API server cannot be reached"}; the run goes on, retrying`));
  if (before.apiLostAt !== null && after.apiLostAt === null) lines.push(info("the API server is back"));
  if (before.stalled === null && after.stalled !== null)
    lines.push(warning(`the shared volume does not answer (${after.stalled.error}); output comes late`));
  if (before.stalled !== null && after.stalled === null) lines.push(info("the shared volume answers again"));
  return lines;
}

function endLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  if (before.cliStartedAt === null && after.cliStartedAt !== null) lines.push(info(startNews(after.identity)));
  if (before.cancel === null && after.cancel !== null) lines.push(info(`cancelling: ${after.cancel.reason}`));
  if (before.endRecord === null && after.endRecord !== null) lines.push(info(endText(after)));
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
    "runner-failed": ", the runner failed",
  };
  return `CLI over: ${how}${why[end.cause]}, ${end.bytes} bytes of output`;
}
