import type { RunOutcome, StartFailure } from "@paperclip-k8s/engine";
import type { CliFault, CliReport } from "./agent-cli.ts";
import type { ExecutionResult } from "./host.ts";

export type Failure = Required<Pick<ExecutionResult, "errorCode" | "errorMessage">> &
  Pick<ExecutionResult, "errorFamily" | "retryNotBefore" | "clearSession">;

const KILLED_CODES = { oom: "k8s_oom_killed", eviction: "k8s_evicted", preemption: "k8s_preempted", "node-loss": "k8s_node_lost" } as const;
const START_CODES: Partial<Record<StartFailure, string>> = {
  "job-create-failed": "k8s_job_create_failed",
  "secret-create-failed": "k8s_prompt_secret_create_failed",
  "volume-unusable": "k8s_volume_unusable",
};
const FAULT_CODES: Record<CliFault["kind"], string> = {
  "unknown-session": "session_unavailable",
  auth: "auth_required",
  "model-not-found": "model_not_found",
  quota: "provider_quota",
  transient: "transient_upstream",
  "context-overflow": "context_overflow",
  "step-limit": "max_turns_exhausted",
  other: "adapter_failed",
};

export interface Ending {
  readonly outcome: RunOutcome;
  readonly report: CliReport;
  readonly fault: CliFault | null;
  readonly stderr: string;
  readonly now: number;
}

/** What went wrong, cause first; null = the run succeeded. Only an exit code of 0 without any complaint is a success. */
export function failureOf(ending: Ending): Failure | null {
  const { outcome } = ending;
  switch (outcome.kind) {
    case "exited":
      return exitFailure(ending, effectiveExit(outcome.exitCode, ending.report), outcome.signal);
    case "cancelled":
      return {
        errorCode: "cancelled",
        errorMessage: `Cancelled: ${outcome.reason}${outcome.stopped ? "" : "; the pod has not confirmed that it stopped"}`,
      };
    case "timed-out":
      return {
        errorCode: "timeout",
        errorMessage: `Time limit reached${outcome.by === "deadline" ? " (the Job's own deadline)" : ""}${saidToo(ending)}`,
      };
    case "never-started":
      return {
        errorCode: startCode(outcome),
        errorMessage: `The agent did not start: ${outcome.message}`,
      };
    case "killed":
      return { errorCode: KILLED_CODES[outcome.by], errorMessage: killedMessage(ending, outcome) };
    case "deleted":
      return { errorCode: "k8s_job_deleted_externally", errorMessage: `${outcome.message}${withExit(outcome.exitCode)}${saidToo(ending)}` };
    case "superseded":
      return { errorCode: "k8s_superseded", errorMessage: `Run ${outcome.byRun} has taken this run's Job over` };
    case "lost-sight":
      return {
        errorCode: "k8s_job_state_mismatch",
        errorMessage: `How the run ended is not known: ${outcome.message}. The Job is left as it is`,
      };
    case "blocked":
      return {
        errorCode: "k8s_concurrent_run_blocked",
        errorMessage: outcome.message,
        retryNotBefore: new Date(ending.now + 60_000).toISOString(),
      };
  }
}

/** A CLI that got over its errors and finished its turn has done its work, whatever code it exits with. */
export function effectiveExit(exitCode: number | null, report: CliReport): number | null {
  const finished = report.finished && report.recovered.length > 0 && report.errors.length === 0;
  return exitCode === 1 && finished ? 0 : exitCode;
}

function exitFailure(ending: Ending, exitCode: number | null, signal: string | null): Failure | null {
  const { report, fault, outcome } = ending;
  const output = outcome.evidence.output;
  const lost = output.complete ? "" : missingText(output);
  if (fault !== null) return { ...faultFailure(fault, ending.now), errorMessage: `${fault.message}${withExit(exitCode)}${lost}` };
  if (signal !== null) return { errorCode: "adapter_failed", errorMessage: `The CLI was ended by ${signal}${saidToo(ending)}${lost}` };
  if (exitCode !== 0)
    return { errorCode: "adapter_failed", errorMessage: `${firstReadable(ending) ?? "The CLI failed"}${withExit(exitCode)}${lost}` };
  if (!output.complete)
    return { errorCode: "k8s_output_incomplete", errorMessage: `The CLI exited with code 0, but its output is incomplete${lost}` };
  if (report.errors.length > 0) return { errorCode: "adapter_failed", errorMessage: `${report.errors[0]} (exit code 0)` };
  if (report.sessionId !== null && report.outputTokens === 0 && report.text === "")
    return { errorCode: "llm_api_error", errorMessage: "The model returned nothing: no text and no output tokens" };
  if (report.events === 0) return { errorCode: "adapter_failed", errorMessage: "The CLI exited with code 0 without any output" };
  return null;
}

/** What no retry can mend is the operator's; the rest may pass by itself. */
function startCode(outcome: Extract<RunOutcome, { kind: "never-started" }>): string {
  if (outcome.permanent) return "configuration_incomplete";
  return START_CODES[outcome.cause] ?? "k8s_pod_schedule_failed";
}

function faultFailure(fault: CliFault, now: number): Omit<Failure, "errorMessage"> {
  const errorCode = FAULT_CODES[fault.kind];
  const later = fault.retryAfterSec === null ? {} : { retryNotBefore: new Date(now + fault.retryAfterSec * 1000).toISOString() };
  if (fault.kind === "quota") return { errorCode, errorFamily: "provider_quota", ...later };
  if (fault.kind === "transient") return { errorCode, errorFamily: "transient_upstream", ...later };
  if (fault.kind === "step-limit" || fault.kind === "unknown-session") return { errorCode, clearSession: true };
  return { errorCode };
}

function killedMessage(ending: Ending, outcome: Extract<RunOutcome, { kind: "killed" }>): string {
  const limit = outcome.by === "oom" ? ". Raise resources.limits.memory" : "";
  return `${outcome.message.replace(/[.\s]+$/, "")}${withExit(outcome.exitCode)}${limit}${saidToo(ending)}`;
}

function withExit(exitCode: number | null): string {
  return exitCode === null ? "" : ` (exit code ${exitCode})`;
}

function missingText(output: RunOutcome["evidence"]["output"]): string {
  const bytes =
    output.expected === null ? "its end was not proved" : `${output.expected - output.delivered} of ${output.expected} bytes are missing`;
  return `; output: ${bytes}${output.problem === null ? "" : ` (${output.problem})`}`;
}

/** The CLI's own complaint, where it had one, after the cause. */
function saidToo(ending: Ending): string {
  const fault = ending.fault;
  // A fault of no known kind may be our own inference from how the stream ends.
  const said = ending.report.errors[0] ?? (fault === null || fault.kind === "other" ? undefined : fault.message);
  return said === undefined ? "" : `; the CLI said: ${said}`;
}

function firstReadable(ending: Ending): string | null {
  const error = ending.report.errors[0];
  if (error !== undefined) return error;
  const line = ending.stderr.split("\n").find((candidate) => /[A-Za-z]{3}/.test(candidate) && !candidate.trimStart().startsWith("{"));
  return line === undefined ? null : line.trim().slice(0, 500);
}
