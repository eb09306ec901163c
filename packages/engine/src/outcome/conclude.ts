import { type CliEnd, RUNNER_EXIT } from "@paperclip-k8s/runner";
import type { OutcomeKind } from "../run-outcome.ts";
import { neverStarted } from "./admission.ts";
import { startError } from "./container-problem.ts";
import { disruption } from "./disruption.ts";
import { believedEnd, cliEnd } from "./ended.ts";
import { memoryOf } from "./memory.ts";
import { isStartError, mainContainer, type Terminated, terminated } from "./pod-facts.ts";
import { startupProblem } from "./startup-problem.ts";
import type { RunState } from "./state.ts";

const KILLED_EXIT = 137;

/** The outcome of a run that has ended. The cause comes first, the exit code is only a symptom. */
export function conclude(state: RunState): OutcomeKind {
  const ran = state.cliStartedAt !== null || state.delivered > 0;
  const kind = causeOf(state);
  if (!ran || kind.kind !== "never-started") return kind;
  // Another pod's failure to start explains nothing about the one that did.
  return { kind: "end-unknown", message: `the CLI had started, and its end was not seen; then: ${kind.message}` };
}

function causeOf(state: RunState): OutcomeKind {
  const end = cliEnd(state);
  const container = terminated(state.pod, state.identity.container);
  if (wasCancelled(state, end))
    return { kind: "cancelled", reason: state.cancel?.reason ?? "", exitCode: exitCodeOf(end, container), stopped: true };
  if (isSecondPod(state, end, container))
    return { kind: "end-unknown", message: "another pod of the Job has run it, and its end was not seen" };
  const failedBefore = end?.cause === "spawn-failed" ? runnerFailedBefore(end.exitCode ?? container?.exitCode ?? null, end.error) : null;
  if (failedBefore !== null) return failedBefore;
  if (end !== null) return fromEnd(state, end, container);
  if (container !== null) return fromContainer(state, container);
  return withoutEnd(state);
}

/** The runner found that another pod has the run; a CLI may exit with that code itself. */
function isSecondPod(state: RunState, end: CliEnd | null, container: Terminated | null): boolean {
  return believedEnd(state) === null && container?.exitCode === RUNNER_EXIT.alreadyStarted && end?.exitCode !== RUNNER_EXIT.alreadyStarted;
}

/** A CLI that had ended by itself before the cancel was not cancelled. */
function wasCancelled(state: RunState, end: CliEnd | null): boolean {
  if (state.cancel === null) return false;
  return !(end !== null && end.cause === "exit" && state.endSeenAt !== null && state.endSeenAt < state.cancel.at);
}

function fromEnd(state: RunState, end: CliEnd, container: Terminated | null): OutcomeKind {
  const exitCode = end.exitCode;
  if (end.cause === "timeout") return { kind: "timed-out", by: "runner", exitCode };
  if (end.cause === "output-limit") return tooMuchOutput(end);
  if (end.cause === "spawn-failed") {
    const message = end.error ?? "the CLI could not be started";
    if (exitCode === RUNNER_EXIT.notFound) return neverStarted("cli-missing", message, true);
    return neverStarted("start-error", message, !PASSING.test(message));
  }
  if (end.cause === "runner-failed") return runnerFailed(end);
  const killed = end.signal === "SIGKILL" || exitCode === KILLED_EXIT;
  if (killed && ((end.oomKills ?? 0) > 0 || container?.reason === "OOMKilled")) return outOfMemory(state, exitCode ?? KILLED_EXIT);
  if (end.cause === "stopped" || killed) {
    const outside = endedFromOutside(state, exitCode);
    if (outside !== null) return outside;
  }
  if (end.cause === "stopped")
    return { kind: "deleted", what: "pod", message: "the pod was stopped (SIGTERM), and nothing says by whom", exitCode };
  return { kind: "exited", exitCode, signal: end.signal };
}

/** Errors that pass by themselves: processes, memory, a program just being written, a volume. */
const PASSING = /\((EAGAIN|ENOMEM|ETXTBSY|EMFILE|ENFILE|EBUSY|EIO|ESTALE)\)/;

function runnerFailed({ signal, error }: CliEnd): OutcomeKind {
  const message = error ?? "the runner failed";
  if (signal === null) return neverStarted("runner", message);
  return { kind: "killed", by: "runner", message, remedy: null, exitCode: null };
}

function tooMuchOutput({ error, exitCode }: CliEnd): OutcomeKind {
  const message = `the CLI was ended: ${error ?? "it wrote more than it may"}`;
  return { kind: "killed", by: "output-limit", message, remedy: "raise limits.outputBytes in the policy", exitCode };
}

function fromContainer(state: RunState, container: Terminated): OutcomeKind {
  const { exitCode } = container;
  if (container.reason === "OOMKilled" && exitCode !== 0) return outOfMemory(state, exitCode);
  if (isStartError(container)) return { kind: "never-started", ...startError(container, state.identity) };
  // A CLI may exit with that code itself, but then the runner has begun.
  if (exitCode === RUNNER_EXIT.oldRuntime && state.startRecord === null)
    return neverStarted("runtime-too-old", container.message ?? "the runtime in the image is too old for the runner", true);
  const runner = runnerFailedBefore(exitCode, container.message);
  if (runner !== null) return runner;
  if (exitCode !== 0) {
    const outside = endedFromOutside(state, exitCode);
    if (outside !== null) return outside;
  }
  return { kind: "exited", exitCode, signal: null };
}

/** Exit codes of the runner itself: the CLI was not started, and the problem may pass. */
function runnerFailedBefore(exitCode: number | null, detail: string | null): OutcomeKind | null {
  const tail = detail === null ? "" : `: ${detail}`;
  if (exitCode === RUNNER_EXIT.badSpec) return neverStarted("runner", `the runner cannot read its settings${tail}`);
  if (exitCode === RUNNER_EXIT.noOutput) return neverStarted("volume-unusable", `the output file cannot be written${tail}`);
  if (exitCode === RUNNER_EXIT.notWritable) return neverStarted("claim-not-writable", detail ?? "a volume of the run cannot be written to");
  if (exitCode === RUNNER_EXIT.noState) return neverStarted("state-unreadable", detail ?? "the saved state cannot be restored");
  return null;
}

/** No end was seen: only the Job and the last state of the pod are left to judge by. */
function withoutEnd(state: RunState): OutcomeKind {
  const problem = startupProblem(state);
  if (problem?.cause === "init-failed") return neverStarted(problem.cause, problem.message);
  const outside = endedFromOutside(state, null);
  if (outside !== null) return outside;
  if (state.job?.conditions.Complete !== undefined)
    return { kind: "end-unknown", message: `Job ${state.identity.jobName} is Complete, but how its CLI ended is not known` };
  // The Job reports that a pod of it failed: that it never started is not known.
  const unknown = isViewIncomplete(state) || state.job?.conditions.Failed?.reason === "BackoffLimitExceeded";
  if (state.pod === null && state.startRecord === null && !unknown) {
    const failed = state.job?.conditions.Failed?.message;
    return neverStarted("no-pod", `the Job has ended and no pod of it was seen${failed ? `: ${failed}` : ""}`);
  }
  const pod = state.pod === null ? "its pod was not seen" : `pod ${state.pod.name} is ${state.pod.phase}`;
  return { kind: "end-unknown", message: `${pod}, and how its container ended is not known` };
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
    const mayHaveRun = state.startRecord !== null || state.ranAt !== null || exitCode !== null || isViewIncomplete(state);
    if (mayHaveRun) return { kind: "timed-out", by: "deadline", exitCode };
    const why = state.lastProblem;
    return neverStarted("deadline", `the Job's deadline passed before its container started${why === null ? "" : `: ${why.message}`}`);
  }
  if (state.jobGoneAt !== null || state.job?.deletedAt != null)
    return { kind: "deleted", what: "job", message: `Job ${state.identity.jobName} was deleted from outside`, exitCode };
  if (state.podGoneAt !== null || state.pod?.deletedAt != null) return podDeleted(state, exitCode);
  return null;
}

/** Something was not visible at the end, so that what was not seen may still have happened. */
const isViewIncomplete = ({ stalled, apiLostAt }: RunState): boolean => stalled !== null || apiLostAt !== null;

function podDeleted({ identity, job, pod }: RunState, exitCode: number | null): OutcomeKind {
  const message = job?.suspended
    ? `Job ${identity.jobName} was suspended from outside (spec.suspend), which deletes its pod`
    : `pod ${pod?.name ?? "of the Job"} was deleted from outside`;
  // Its end was not waited for (removed by force), or not seen.
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
