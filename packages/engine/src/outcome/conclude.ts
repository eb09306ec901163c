import { type CliEnd, RUNNER_EXIT } from "@paperclip-k8s/runner";
import type { OutcomeKind, StartFailure } from "../run-outcome.ts";
import { startError } from "./container-problem.ts";
import { disruption } from "./disruption.ts";
import { cliEnd } from "./ended.ts";
import { memoryOf } from "./memory.ts";
import { isStartError, mainContainer, type Terminated, terminated } from "./pod-facts.ts";
import { startupProblem } from "./startup-problem.ts";
import type { RunState } from "./state.ts";

const KILLED_EXIT = 137;

/** Reads the outcome off a state in which the run is over. The cause comes first, the exit code is only a symptom. */
export function conclude(state: RunState): OutcomeKind {
  const ran = state.cliStartedAt !== null || state.delivered > 0;
  const kind = causeOf(state);
  if (!ran || kind.kind !== "never-started") return kind;
  // Another pod's failure to start says nothing of the one that did.
  return { kind: "end-unknown", message: `the CLI had started, and its end was not seen; then: ${kind.message}` };
}

function causeOf(state: RunState): OutcomeKind {
  const end = cliEnd(state);
  const container = terminated(state.pod, state.identity.container);
  if (wasCancelled(state, end))
    return { kind: "cancelled", reason: state.cancel?.reason ?? "", exitCode: exitCodeOf(end, container), stopped: true };
  if (isSecondPod(state, end, container))
    return { kind: "end-unknown", message: "another pod of the Job has run it, and its end was not seen" };
  const refused = end?.cause === "spawn-failed" ? runnerRefused(end.exitCode ?? container?.exitCode ?? null, end.error) : null;
  if (refused !== null) return refused;
  if (end !== null) return fromEnd(state, end, container);
  if (container !== null) return fromContainer(state, container);
  return withoutEnd(state);
}

/** The runner found the run claimed, at once or when the volume answered; a CLI may exit with that code itself. */
function isSecondPod({ endRecord }: RunState, end: CliEnd | null, container: Terminated | null): boolean {
  return endRecord === null && container?.exitCode === RUNNER_EXIT.alreadyStarted && end?.exitCode !== RUNNER_EXIT.alreadyStarted;
}

/** A CLI that had ended by itself before anybody asked was not cancelled. */
function wasCancelled(state: RunState, end: CliEnd | null): boolean {
  if (state.cancel === null) return false;
  return !(end !== null && end.cause === "exit" && state.endSeenAt !== null && state.endSeenAt < state.cancel.at);
}

function fromEnd(state: RunState, end: CliEnd, container: Terminated | null): OutcomeKind {
  const exitCode = end.exitCode;
  if (end.cause === "timeout") return { kind: "timed-out", by: "runner", exitCode };
  if (end.cause === "spawn-failed") return notSpawned(end.error ?? "the CLI could not be started");
  if (end.cause === "runner-failed") return runnerFailed(end);
  const killed = end.signal === "SIGKILL" || exitCode === KILLED_EXIT;
  if (killed && ((end.oomKills ?? 0) > 0 || container?.reason === "OOMKilled")) return outOfMemory(state, exitCode ?? KILLED_EXIT);
  if (end.cause === "stopped" || killed) {
    const outside = endedFromOutside(state, exitCode);
    if (outside !== null) return outside;
  }
  if (end.cause === "stopped")
    return { kind: "deleted", what: "pod", message: "the pod was told to stop (SIGTERM), nobody says why", exitCode };
  return { kind: "exited", exitCode, signal: end.signal };
}

/** Those that pass by themselves: processes, memory, a program just being written, a volume. */
const PASSING = /\((EAGAIN|ENOMEM|ETXTBSY|EMFILE|ENFILE|EBUSY|EIO|ESTALE)\)/;

function notSpawned(message: string): OutcomeKind {
  return { kind: "never-started", cause: "start-error", message, permanent: !PASSING.test(message) };
}

function runnerFailed({ signal, error }: CliEnd): OutcomeKind {
  const message = error ?? "the runner failed";
  if (signal === null) return { kind: "never-started", cause: "runner", message, permanent: false };
  return { kind: "killed", by: "runner", message, remedy: null, exitCode: null };
}

function fromContainer(state: RunState, container: Terminated): OutcomeKind {
  const { exitCode } = container;
  if (container.reason === "OOMKilled" && exitCode !== 0) return outOfMemory(state, exitCode);
  if (isStartError(container)) return { kind: "never-started", ...startError(container, state.identity.image) };
  const runner = runnerRefused(exitCode, container.message);
  if (runner !== null) return runner;
  if (exitCode !== 0) {
    const outside = endedFromOutside(state, exitCode);
    if (outside !== null) return outside;
  }
  return { kind: "exited", exitCode, signal: null };
}

/** Exit codes of the runner itself: the CLI was not started, and the trouble may pass. */
function runnerRefused(exitCode: number | null, said: string | null): OutcomeKind | null {
  const tail = said === null ? "" : `: ${said}`;
  const refused = (cause: StartFailure, message: string): OutcomeKind => ({
    kind: "never-started",
    cause,
    message,
    permanent: false,
  });
  if (exitCode === RUNNER_EXIT.badSpec) return refused("runner", `the runner cannot read its settings${tail}`);
  if (exitCode === RUNNER_EXIT.noOutput) return refused("volume-unusable", `the output file cannot be written${tail}`);
  if (exitCode === RUNNER_EXIT.notWritable) return refused("claim-not-writable", said ?? "a volume of the run cannot be written to");
  if (exitCode === RUNNER_EXIT.noState) return refused("state-unreadable", said ?? "the saved state cannot be restored");
  return null;
}

/** Pod and end are gone or never were: only the Job and the pod's last words can tell. */
function withoutEnd(state: RunState): OutcomeKind {
  const trouble = startupProblem(state);
  if (trouble?.cause === "init-failed") return { kind: "never-started", cause: trouble.cause, message: trouble.message, permanent: false };
  const outside = endedFromOutside(state, null);
  if (outside !== null) return outside;
  if (state.job?.conditions.Complete !== undefined)
    return { kind: "end-unknown", message: `Job ${state.identity.jobName} says Complete, but nothing tells how its CLI ended` };
  // Told by the Job that a pod of it failed: that it never started is not known.
  const unknown = isBlind(state) || state.job?.conditions.Failed?.reason === "BackoffLimitExceeded";
  if (state.pod === null && state.startRecord === null && !unknown) {
    const failed = state.job?.conditions.Failed?.message;
    return {
      kind: "never-started",
      cause: "no-pod",
      message: `the Job is over and no pod of it was seen${failed ? `: ${failed}` : ""}`,
      permanent: false,
    };
  }
  const pod = state.pod === null ? "its pod was not seen" : `pod ${state.pod.name} is ${state.pod.phase}`;
  return { kind: "end-unknown", message: `${pod}, and nothing tells how its container ended` };
}

function outOfMemory(state: RunState, exitCode: number): OutcomeKind {
  const { figures, remedy } = memoryOf(state);
  return { kind: "killed", by: "oom", message: `out of memory: OOMKilled${figures === "" ? "" : `, ${figures}`}`, remedy, exitCode };
}

/** Disruption before deadline before deletion: the first of them is the cause of the others. */
function endedFromOutside(state: RunState, exitCode: number | null): OutcomeKind | null {
  const disrupted = disruption(state.pod);
  if (disrupted !== null) return { kind: "killed", ...disrupted, exitCode };
  if (deadlineExceeded(state)) {
    const mayHaveRun = state.startRecord !== null || state.ranAt !== null || exitCode !== null || isBlind(state);
    if (mayHaveRun) return { kind: "timed-out", by: "deadline", exitCode };
    const why = state.lastProblem;
    const message = `the Job's deadline passed before its container started${why === null ? "" : `: ${why.message}`}`;
    return { kind: "never-started", cause: "deadline", message, permanent: false };
  }
  if (state.jobGoneAt !== null || state.job?.deletedAt != null)
    return { kind: "deleted", what: "job", message: `Job ${state.identity.jobName} was deleted from outside`, exitCode };
  if (state.podGoneAt !== null || state.pod?.deletedAt != null) return podDeleted(state, exitCode);
  return null;
}

/** In one eye at least: what was not seen may still have been. */
const isBlind = ({ stalled, apiLostAt }: RunState): boolean => stalled !== null || apiLostAt !== null;

function podDeleted({ identity, job, pod }: RunState, exitCode: number | null): OutcomeKind {
  const message = job?.suspended
    ? `Job ${identity.jobName} was suspended from outside (spec.suspend), which deletes its pod`
    : `pod ${pod?.name ?? "of the Job"} was deleted from outside`;
  // Nobody waited for its end: removed by force, or while nobody could look.
  const running = exitCode === null && mainContainer(pod, identity.container)?.state.kind === "running";
  return { kind: "deleted", what: "pod", message: `${message}${running ? "; its container was last seen running" : ""}`, exitCode };
}

function deadlineExceeded(state: RunState): boolean {
  if (state.pod?.reason === "DeadlineExceeded") return true;
  const conditions = state.job?.conditions ?? {};
  return conditions.FailureTarget?.reason === "DeadlineExceeded" || conditions.Failed?.reason === "DeadlineExceeded";
}

function exitCodeOf(end: CliEnd | null, container: Terminated | null): number | null {
  return end === null ? (container?.exitCode ?? null) : end.exitCode;
}
