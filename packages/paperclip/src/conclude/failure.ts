import { type RunOutcome, type StartFailure, standing } from "@paperclip-k8s/engine";
import type { CliFault, CliReport } from "../agent-cli/agent-cli.ts";
import type { ExecutionResult } from "../host/types.ts";

export type Failure = Required<Pick<ExecutionResult, "errorCode" | "errorMessage">> &
  Pick<ExecutionResult, "errorFamily" | "retryNotBefore" | "clearSession">;

const KILLED_CODES = {
  oom: "k8s_oom_killed",
  eviction: "k8s_evicted",
  preemption: "k8s_preempted",
  "node-loss": "k8s_node_lost",
  runner: "k8s_runner_failed",
} as const;
const START_CODES: Partial<Record<StartFailure, string>> = {
  "job-create-failed": "k8s_job_create_failed",
  "takeover-failed": "k8s_takeover_failed",
  "secret-create-failed": "k8s_prompt_secret_create_failed",
  "volume-unusable": "k8s_volume_unusable",
  "claim-create-failed": "k8s_job_create_failed",
  "claim-unusable": "k8s_volume_unusable",
  "claim-not-writable": "k8s_volume_unusable",
  "state-unreadable": "k8s_volume_unusable",
};
const FAULT_CODES: Record<CliFault["kind"], string> = {
  "unknown-session": "session_unavailable",
  "spoilt-session": "session_unavailable",
  auth: "auth_required",
  "model-not-found": "model_not_found",
  quota: "provider_quota",
  transient: "transient_upstream",
  "context-overflow": "context_overflow",
  "step-limit": "max_turns_exhausted",
  refusal: "model_refusal",
  truncated: "adapter_failed",
  other: "adapter_failed",
};

/** After these a resumed session would only fail again. */
const CLEARING: ReadonlySet<CliFault["kind"]> = new Set(["step-limit", "unknown-session", "spoilt-session"]);

export interface Ending {
  readonly outcome: RunOutcome;
  readonly report: CliReport;
  readonly fault: CliFault | null;
  readonly stderr: string;
  readonly now: number;
}

/** What went wrong, cause first; null = the run succeeded. Only an exit code of 0 without any complaint is a success. */
export function failureOf(ending: Ending): Failure | null {
  const failure = causeOf(ending);
  const state = ending.outcome.evidence.state;
  // Of a session that was saved, or goes on with its Job, there is nothing to say.
  const goesOn = ending.outcome.kind === "detached" || ending.outcome.kind === "superseded";
  return failure === null || state == null || state.saved || goesOn
    ? failure
    : { ...failure, errorMessage: `${failure.errorMessage}; ${standing(state)}` };
}

function causeOf(ending: Ending): Failure | null {
  const { outcome } = ending;
  switch (outcome.kind) {
    case "exited":
      return memoryFirst(ending, exitFailure(ending, effectiveExit(outcome.exitCode, ending.report), outcome.signal));
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
        errorMessage: `The agent did not start: ${outcome.message}${needsNode(outcome)}${needsClass(outcome)}`,
      };
    case "killed":
      return { errorCode: KILLED_CODES[outcome.by], errorMessage: killedMessage(ending, outcome) };
    case "deleted":
      return {
        errorCode: "k8s_job_deleted_externally",
        errorMessage: `${sentence(outcome.message)}${withExit(outcome.exitCode)}${saidToo(ending)}`,
      };
    case "detached":
      return { errorCode: "k8s_detached", errorMessage: detachedMessage(outcome) };
    case "superseded":
      return { errorCode: "k8s_superseded", errorMessage: `Run ${outcome.byRun} has taken this run's Job over` };
    case "lost-sight":
      return {
        errorCode: "k8s_job_state_mismatch",
        errorMessage: `How the run ended is not known: ${outcome.message}. The Job is left as it is`,
      };
    case "reattach-failed":
      return { errorCode: "k8s_pod_reattach_failed", errorMessage: `${outcome.message}. The Job is left as it is` };
    case "blocked":
      return {
        errorCode: outcome.code ?? "k8s_concurrent_run_blocked",
        errorMessage: outcome.message,
        retryNotBefore: new Date(ending.now + 60_000).toISOString(),
      };
  }
}

function detachedMessage({ reason, evidence }: Extract<RunOutcome, { kind: "detached" }>): string {
  if (evidence.jobUid === null) return `Not started: ${reason}`;
  return `Detached: ${reason}; Job ${evidence.namespace}/${evidence.jobName} goes on, and the next run takes it over`;
}

/** A CLI that got over its errors and finished its turn has done its work, whatever code it exits with. */
export function effectiveExit(exitCode: number | null, report: CliReport): number | null {
  if (report.succeeded) return 0;
  const finished = report.finished && report.recovered.length > 0 && report.errors.length === 0;
  return exitCode === 1 && finished ? 0 : exitCode;
}

function exitFailure(ending: Ending, exitCode: number | null, signal: string | null): Failure | null {
  const { report, fault, outcome } = ending;
  const output = outcome.evidence.output;
  const lost = output.complete ? "" : missingText(output);
  const ended = signal !== null && !report.succeeded;
  if (fault !== null && !(ended && fault.kind === "truncated"))
    return { ...faultFailure(fault, ending.now), errorMessage: `${fault.message}${withExit(exitCode)}${lost}` };
  if (ended) return { errorCode: "adapter_failed", errorMessage: `The CLI was ended by ${signal}${saidToo(ending)}${lost}` };
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

/** Processes killed for lack of memory come before whatever the CLI made of their loss; a fault it names itself keeps its code. */
function memoryFirst({ outcome }: Ending, failure: Failure | null): Failure | null {
  const killed = outcome.evidence.memory.killed ? outcome.evidence.warnings[0] : undefined;
  if (failure === null || killed === undefined) return failure;
  const errorCode = failure.errorCode === "adapter_failed" ? KILLED_CODES.oom : failure.errorCode;
  return { ...failure, errorCode, errorMessage: `${sentence(killed)}; then: ${failure.errorMessage}` };
}

/** What no retry can mend is the operator's; the rest may pass by itself. */
function startCode(outcome: Extract<RunOutcome, { kind: "never-started" }>): string {
  if (outcome.permanent && outcome.cause !== "claim-create-failed") return "configuration_incomplete";
  return START_CODES[outcome.cause] ?? "k8s_pod_schedule_failed";
}

/** The runner is our own program: a missing runtime is told as what it is. */
function needsNode({ cause, message }: Extract<RunOutcome, { kind: "never-started" }>): string {
  return cause === "start-error" && /\bnode\b/.test(message) ? ". Node ≥ 18 must be in the image: it runs the adapter's runner" : "";
}

function needsClass({ cause }: Extract<RunOutcome, { kind: "never-started" }>): string {
  if (cause !== "claim-missing") return "";
  return ". Set agentDbStorageClass to the storage class it is to be made of, make the claim yourself, or choose another agentDbMode";
}

function faultFailure(fault: CliFault, now: number): Omit<Failure, "errorMessage"> {
  const errorCode = fault.code ?? FAULT_CODES[fault.kind];
  const at = fault.retryAt ?? (fault.retryAfterSec === null ? null : now + fault.retryAfterSec * 1000);
  const later = at === null ? {} : { retryNotBefore: new Date(at).toISOString() };
  if (fault.kind === "quota") return { errorCode, errorFamily: "provider_quota", ...later };
  if (fault.kind === "transient") return { errorCode, errorFamily: "transient_upstream", ...later };
  if (fault.kind === "refusal") return { errorCode, errorFamily: "model_refusal" };
  if (CLEARING.has(fault.kind)) return { errorCode, clearSession: true };
  return { errorCode };
}

function killedMessage(ending: Ending, outcome: Extract<RunOutcome, { kind: "killed" }>): string {
  const remedy = outcome.remedy === null ? "" : `; ${outcome.remedy}`;
  return `${sentence(outcome.message)}${withExit(outcome.exitCode)}${remedy}${saidToo(ending)}`;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

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
  const inferred = fault === null || fault.kind === "other" || fault.kind === "truncated";
  const said = ending.report.errors[0] ?? (inferred ? undefined : fault.message);
  return said === undefined ? "" : `; the CLI said: ${said}`;
}

function firstReadable(ending: Ending): string | null {
  const error = ending.report.errors[0];
  if (error !== undefined) return error;
  const line = ending.stderr.split("\n").find((candidate) => /[A-Za-z]{3}/.test(candidate) && !candidate.trimStart().startsWith("{"));
  return line === undefined ? null : line.trim().slice(0, 500);
}
