import type { EventView, PodView } from "../kube/views.ts";
import { startError } from "../outcome/container-problem.ts";
import { disruption } from "../outcome/disruption.ts";
import { believedEnd, isOrphaned } from "../outcome/ended.ts";
import { newForgeries } from "../outcome/forgeries.ts";
import { plain, scaleReason, schedulerReason } from "../outcome/kubernetes-texts.ts";
import { childKilled, memoryOf } from "../outcome/memory.ts";
import { endOf, isStartError, mainContainer, sidecarEnd } from "../outcome/pod-facts.ts";
import { startupProblem } from "../outcome/startup-problem.ts";
import type { RunIdentity, RunState } from "../outcome/state.ts";
import type { StatusLine } from "../run-context.ts";
import { sessionLines } from "./session-lines.ts";

const info = (text: string): StatusLine => ({ level: "info", text });
const warning = (text: string): StatusLine => ({ level: "warning", text });

/** Describes each change of a run in lines. It remembers what it has written: a problem that comes and goes is written when it changes, not each time. */
export function createStatusLog(): (before: RunState, after: RunState) => StatusLine[] {
  let problem = "";
  let last = "";
  const written = new Set<string>();
  const unwritten = (lines: readonly StatusLine[]): StatusLine[] => {
    const fresh = lines.filter(({ text }) => !written.has(text));
    for (const { text } of fresh) written.add(text);
    return fresh;
  };
  return (before, after) => {
    const lines = [...podLines(before, after), ...unwritten(sidecarLines(before, after)), ...nodeLines(before, after)];
    const now = startupProblem(after)?.text ?? null;
    if (now !== null && now !== problem) {
      problem = now;
      lines.push(warning(now));
    }
    const events = after.events === before.events ? [] : unwritten(eventLines(after));
    const memory = memoryOf(after);
    const killed = memory.killed && !memoryOf(before).killed ? unwritten([warning(childKilled(memory))]) : [];
    const rest = [
      ...jobLines(before, after),
      ...connectionLines(before, after),
      ...cliLines(before, after),
      ...sessionLines(before, after),
      ...newForgeries(before, after).map(warning),
    ];
    const all = [...lines, ...events, ...rest, ...killed];
    const fresh = all.filter(({ text }, place) => text !== (all[place - 1]?.text ?? last));
    last = all.at(-1)?.text ?? last;
    return fresh;
  };
}

function podLines(before: RunState, after: RunState): StatusLine[] {
  if (after.pod === null || after.pod === before.pod) return [];
  const lines: StatusLine[] = before.pod === null ? [info(podFound(after.pod, after.identity))] : [];
  const was = before.pod === null ? null : podLine(before.pod, after.identity);
  const is = podLine(after.pod, after.identity);
  if (is !== null && is.text !== was?.text) lines.push(is);
  return lines;
}

// The pod of a Job that was taken over is not new, and must not look like a second one.
function podFound({ name }: PodView, { adopted, jobName }: RunIdentity): string {
  // Its Job's name is in the line before, and long.
  const short = name.startsWith(`${jobName}-`) ? `…${name.slice(jobName.length)}` : name;
  return adopted ? `its pod is ${short}` : `pod ${short} created`;
}

/** Null: nothing that earlier lines do not contain, or a startup problem, which has its own line. */
function podLine(pod: PodView, identity: RunIdentity): StatusLine | null {
  const disrupted = disruption(pod, identity.container);
  if (disrupted !== null) return warning(disrupted.message);
  if (pod.reason !== null) return warning(`pod ${pod.reason}${pod.message === null ? "" : `: ${plain(pod.message)}`}`);
  const state = mainContainer(pod, identity.container)?.state;
  if (state?.kind === "running") return info(pod.deletedAt === null ? "container running" : "container stopping");
  if (state?.kind === "terminated" && isStartError(state)) return warning(startError(state, identity).message);
  if (state?.kind === "terminated" && state.reason === "ContainerStatusUnknown")
    return info("container gone; the node does not know how it ended");
  // That the CLI has ended well has a line of its own.
  if (state?.kind === "terminated" && state.exitCode === 0) return null;
  if (state?.kind === "terminated") return info(`container ended with exit code ${state.exitCode} (${state.reason ?? "no reason"})`);
  return pod.node === null ? null : info(`pod scheduled on node ${pod.node}`);
}

/** A sidecar that ends while the run goes on is no failure of the run; what needs it may fail. At the end of the pod all of them are ended. */
function sidecarLines(before: RunState, after: RunState): StatusLine[] {
  if (after.pod === before.pod || after.pod === null || after.endedAt !== null || !isRunning(after)) return [];
  return after.pod.initContainers.flatMap((container) => {
    const end = container.sidecar ? sidecarEnd(container) : null;
    const remedy = end?.reason === "OOMKilled" ? "; raise its memory limit in the pod template" : "";
    return end === null
      ? []
      : [warning(`sidecar container ${container.name} ${endOf(end)}; it is restarted, and the run goes on${remedy}`)];
  });
}

/** A node could not report while the API server was away: it gets this long to do so afterwards before it is blamed. */
const NODE_REPORT_MS = 30_000;

function nodeLines(before: RunState, after: RunState): StatusLine[] {
  if (isNodeSilent(before) === isNodeSilent(after) || after.pod === null) return [];
  if (isNodeSilent(after)) return [warning(`node ${after.pod.node} does not answer; the pod may still run there, waiting`)];
  return after.apiLostAt === null && isRunning(after) ? [info(`node ${after.pod.node} answers again`)] : [];
}

/** Without readiness probes a container that runs is ready, unless its node has not reported for a while. */
function isNodeSilent(state: RunState): boolean {
  const { pod, apiLostAt, apiBackAt, now } = state;
  if (!isRunning(state) || apiLostAt !== null || (apiBackAt !== null && now - apiBackAt < NODE_REPORT_MS)) return false;
  return pod?.conditions.Ready?.status === "False" && pod.conditions.ContainersReady?.status === "True";
}

const isRunning = ({ pod, identity }: RunState): boolean =>
  pod?.deletedAt === null && pod.reason === null && mainContainer(pod, identity.container)?.state.kind === "running";

function jobLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  if (after.job?.suspended && !before.job?.suspended && after.endedAt === null) {
    const then = after.pod === null ? "waiting until somebody resumes it" : "its pod is stopped";
    lines.push(warning(`Job ${after.identity.jobName} was suspended (spec.suspend); ${then}`));
  }
  if (isLate(after) && !isLate(before)) lines.push(warning("the Job's deadline has passed (activeDeadlineSeconds)"));
  if (before.jobGoneAt === null && after.jobGoneAt !== null && after.cancel === null && after.endedAt === null)
    lines.push(warning(`Job ${after.identity.jobName} is gone; waiting for the end of its pod`));
  if (isLeftBehind(after) && !isLeftBehind(before))
    lines.push(warning("its pod was left to itself (--cascade=orphan) and works on: it is followed to its end, and stays as an object"));
  return lines;
}

/** Longer than a pod that is being deleted takes to be marked so. */
const LEFT_BEHIND_MS = 15_000;
const isLeftBehind = (state: RunState): boolean => isOrphaned(state) && state.now - (state.jobGoneAt ?? state.now) >= LEFT_BEHIND_MS;

const isLate = ({ job }: RunState): boolean => (job?.conditions.FailureTarget ?? job?.conditions.Failed)?.reason === "DeadlineExceeded";

function connectionLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  if (before.apiLostAt === null && after.apiLostAt !== null)
    lines.push(
      warning(`${after.apiProblem ?? "the API server cannot be reached"}; ${after.acceptedAt === null ? "" : "the run goes on, "}retrying`),
    );
  if (before.apiLostAt !== null && after.apiLostAt === null) lines.push(info("the API server is back"));
  if (after.standstill !== null && after.standstill !== before.standstill)
    lines.push(
      warning(`this server did not run for ${Math.round(after.standstill.ms / 1000)} s (no CPU, or stopped); looking at the cluster again`),
    );
  if (before.stalled === null && after.stalled !== null)
    lines.push(warning(`the shared volume does not answer (${after.stalled.error}); output comes late`));
  if (isHeldBack(after) && !isHeldBack(before))
    lines.push(warning("the run has ended, and the volume is waited for, for some minutes: the end of its output is there"));
  if (!before.volumeFull && after.volumeFull)
    lines.push(warning("the shared volume is full: output waits in the pod for some minutes, then it is lost. Make room"));
  if (before.volumeFull && !after.volumeFull) lines.push(info("the shared volume has room again"));
  if (before.stalled !== null && after.stalled === null) lines.push(info("the shared volume answers again"));
  return lines;
}

const isHeldBack = ({ endedAt, stalled, cancel }: RunState): boolean => endedAt !== null && cancel === null && stalled?.passes === true;

function cliLines(before: RunState, after: RunState): StatusLine[] {
  const lines: StatusLine[] = [];
  const { adopted, firstRun } = after.identity;
  if (before.cliStartedAt === null && after.cliStartedAt !== null)
    lines.push({ ...info(adopted ? `CLI started by run ${firstRun}` : "CLI started"), cli: "started" });
  if (before.cancel === null && after.cancel !== null) lines.push(info(`cancelling: ${after.cancel.reason}`));
  const end = believedEnd(after);
  if (believedEnd(before) === null && end !== null) lines.push({ ...info(endText(end)), cli: "ended" });
  return lines;
}

function endText({ signal, exitCode, cause, bytes }: NonNullable<RunState["endRecord"]>): string {
  const how = signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
  const why = {
    exit: "",
    timeout: ", time limit reached",
    "output-limit": ", limit of output reached",
    stopped: ", stopped from outside",
    "final-line": ", after its final line",
    "spawn-failed": ", not started",
    "runner-failed": ", the runner failed",
  };
  return `CLI ended: ${how}${why[cause]}, ${bytes} bytes of output`;
}

/** These have lines of their own: from the pod's status, or as the startup problem. */
const COVERED = new Set([
  "Failed",
  "BackOff",
  "InspectFailed",
  "ErrImageNeverPull",
  "FailedMount",
  "FailedAttachVolume",
  "FailedCreatePodSandBox",
  "FailedCreate",
  "BackoffLimitExceeded",
  "DeadlineExceeded",
  "Evicted",
  "NodeNotReady",
]);

/** What the events add to the pod's status: autoscalers, other schedulers, and warnings of kinds not known here. */
function eventLines(state: RunState): StatusLine[] {
  const scheduled = state.pod?.conditions.PodScheduled?.message;
  return state.events.flatMap((event) => lineOf(event, scheduled == null ? null : schedulerReason(scheduled)));
}

function lineOf({ type, reason, message }: EventView, scheduler: string | null): StatusLine[] {
  if (reason === "TriggeredScaleUp") return [info(`the autoscaler adds a node: ${scaleReason(message)}`)];
  if (reason === "NotTriggerScaleUp") return [warning(`the autoscaler adds no node: ${scaleReason(message)}`)];
  if (reason === "Nominated") return [info(plain(message))];
  if (type !== "Warning" || COVERED.has(reason)) return [];
  if (reason !== "FailedScheduling") return [warning(`${reason}: ${plain(message)}`)];
  // The scheduler's own text is in the pod's status; an older text adds nothing, another scheduler's does.
  const isOwn = /^\d+\/\d+ nodes are available/.test(message) || schedulerReason(message) === scheduler;
  return isOwn ? [] : [warning(`not scheduled: ${schedulerReason(message)}`)];
}
