import { type CliEnd, RUNNER_EXIT } from "@paperclip-k8s/runner";
import type { OutcomeKind } from "./outcome.ts";
import { cliEnd } from "./over.ts";
import { disruption, failedInit, isStartError, type Terminated, terminated } from "./pod-facts.ts";
import type { RunState } from "./state.ts";

const KILLED_EXIT = 137;

/** Reads the outcome off a state in which the run is over. The cause comes first, the exit code is only a symptom. */
export function conclude(state: RunState): OutcomeKind {
  const end = cliEnd(state);
  const container = terminated(state.pod, state.identity.container);
  if (wasCancelled(state, end))
    return { kind: "cancelled", reason: state.cancel?.reason ?? "", exitCode: exitCodeOf(end, container), stopped: true };
  const refused = end?.cause === "spawn-failed" && container !== null ? runnerRefused(container, end.error) : null;
  if (refused !== null) return refused;
  if (end !== null) return fromEnd(state, end, container);
  if (container !== null) return fromContainer(state, container);
  return withoutEnd(state);
}

/** A CLI that had ended by itself before anybody asked was not cancelled. */
function wasCancelled(state: RunState, end: CliEnd | null): boolean {
  if (state.cancel === null) return false;
  return !(end !== null && end.cause === "exit" && state.endSeenAt !== null && state.endSeenAt < state.cancel.at);
}

function fromEnd(state: RunState, end: CliEnd, container: Terminated | null): OutcomeKind {
  const exitCode = end.exitCode;
  if (end.cause === "timeout") return { kind: "timed-out", by: "runner", exitCode };
  if (end.cause === "spawn-failed")
    return { kind: "never-started", cause: "start-error", message: end.error ?? "the CLI could not be started", permanent: true };
  const killed = end.signal === "SIGKILL" || exitCode === KILLED_EXIT;
  if (killed && ((end.oomKills ?? 0) > 0 || container?.reason === "OOMKilled")) return outOfMemory(exitCode ?? KILLED_EXIT);
  if (end.cause === "stopped" || killed) {
    const outside = endedFromOutside(state, exitCode);
    if (outside !== null) return outside;
  }
  if (end.cause === "stopped")
    return { kind: "deleted", what: "pod", message: "the pod was told to stop (SIGTERM), nobody says why", exitCode };
  return { kind: "exited", exitCode, signal: end.signal };
}

function fromContainer(state: RunState, container: Terminated): OutcomeKind {
  const { exitCode } = container;
  if (container.reason === "OOMKilled" && exitCode !== 0) return outOfMemory(exitCode);
  if (isStartError(container))
    return {
      kind: "never-started",
      cause: "start-error",
      message: container.message ?? "the container could not be started",
      permanent: true,
    };
  const runner = runnerRefused(container, container.message);
  if (runner !== null) return runner;
  if (exitCode !== 0) {
    const outside = endedFromOutside(state, exitCode);
    if (outside !== null) return outside;
  }
  return { kind: "exited", exitCode, signal: null };
}

/** Exit codes of the runner itself: the CLI was not started, and the trouble may pass. */
function runnerRefused(container: Terminated, said: string | null): OutcomeKind | null {
  const tail = said === null ? "" : `: ${said}`;
  const refused = (cause: "runner" | "volume-unusable", message: string): OutcomeKind => ({
    kind: "never-started",
    cause,
    message,
    permanent: false,
  });
  if (container.exitCode === RUNNER_EXIT.badSpec) return refused("runner", `the runner cannot read its settings${tail}`);
  if (container.exitCode === RUNNER_EXIT.alreadyClaimed) return refused("runner", "another pod has already run this Job");
  if (container.exitCode === RUNNER_EXIT.noOutput) return refused("volume-unusable", `the output file cannot be written${tail}`);
  return null;
}

/** Pod and end are gone or never were: only the Job and the pod's last words can tell. */
function withoutEnd(state: RunState): OutcomeKind {
  const init = failedInit(state.pod);
  if (init !== null)
    return {
      kind: "never-started",
      cause: "init-failed",
      message: `init container ${init.name} exited with code ${init.state.exitCode}`,
      permanent: false,
    };
  const outside = endedFromOutside(state, null);
  if (outside !== null) return outside;
  if (state.job?.conditions.Complete !== undefined)
    return { kind: "lost-sight", message: `Job ${state.identity.jobName} says Complete, but nothing tells how its CLI ended` };
  // Blind in one eye, or told by the Job that a pod of it failed: that it never started is not known.
  const blind = state.stalled !== null || state.apiLostAt !== null || state.job?.conditions.Failed?.reason === "BackoffLimitExceeded";
  if (state.pod === null && state.startRecord === null && !blind) {
    const failed = state.job?.conditions.Failed?.message;
    return {
      kind: "never-started",
      cause: "no-pod",
      message: `the Job is over and no pod of it was seen${failed ? `: ${failed}` : ""}`,
      permanent: false,
    };
  }
  const pod = state.pod === null ? "its pod was not seen" : `pod ${state.pod.name} is ${state.pod.phase}`;
  return { kind: "lost-sight", message: `${pod}, and nothing tells how its container ended` };
}

function outOfMemory(exitCode: number): OutcomeKind {
  return { kind: "killed", by: "oom", message: "the container ran out of memory (OOMKilled)", exitCode };
}

/** Disruption before deadline before deletion: the first of them is the cause of the others. */
function endedFromOutside(state: RunState, exitCode: number | null): OutcomeKind | null {
  const disrupted = disruption(state.pod);
  if (disrupted !== null) return { kind: "killed", by: disrupted.by, message: disrupted.message, exitCode };
  if (deadlineExceeded(state)) {
    if (state.cliStartedAt !== null || state.startRecord !== null || exitCode !== null)
      return { kind: "timed-out", by: "deadline", exitCode };
    return {
      kind: "never-started",
      cause: "deadline",
      message: "the Job's deadline passed before its container started",
      permanent: false,
    };
  }
  if (state.jobGoneAt !== null || state.job?.deletedAt != null)
    return { kind: "deleted", what: "job", message: `Job ${state.identity.jobName} was deleted from outside`, exitCode };
  if (state.podGoneAt !== null || state.pod?.deletedAt != null)
    return { kind: "deleted", what: "pod", message: `pod ${state.pod?.name ?? "of the Job"} was deleted from outside`, exitCode };
  return null;
}

function deadlineExceeded(state: RunState): boolean {
  if (state.pod?.reason === "DeadlineExceeded") return true;
  const conditions = state.job?.conditions ?? {};
  return conditions.FailureTarget?.reason === "DeadlineExceeded" || conditions.Failed?.reason === "DeadlineExceeded";
}

function exitCodeOf(end: CliEnd | null, container: Terminated | null): number | null {
  return end === null ? (container?.exitCode ?? null) : end.exitCode;
}
