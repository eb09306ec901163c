import type { RunOutcome } from "@paperclip-k8s/engine";
import type { CliFault } from "../agent-cli/fault.ts";
import type { ExecutionResult } from "../host/types.ts";
import type { AttemptResult } from "./attempts.ts";
import type { Failure } from "./failure.ts";

type Exited = Pick<AttemptResult, "outcome" | "report" | "fault" | "stderr" | "endedAt">;

const FAULT_CODES: Record<CliFault["kind"], string> = {
  "unknown-session": "session_unavailable",
  "corrupted-session": "session_unavailable",
  auth: "auth_required",
  "model-not-found": "model_not_found",
  "bad-arguments": "configuration_incomplete",
  "bad-request": "llm_request_refused",
  quota: "provider_quota",
  transient: "transient_upstream",
  "context-overflow": "context_overflow",
  "step-limit": "max_turns_exhausted",
  refusal: "model_refusal",
  truncated: "adapter_failed",
  other: "adapter_failed",
};
const LONGEST_WAIT_MS = 10 * 365 * 86_400_000;
/** After these a resumed session would only fail again. */
const CLEARING: ReadonlySet<CliFault["kind"]> = new Set(["step-limit", "unknown-session", "corrupted-session", "context-overflow"]);

/** How the CLI's process ended, with two exceptions to its own exit code. */
export function exitOf({ outcome, report }: Pick<AttemptResult, "outcome" | "report">): Pick<ExecutionResult, "exitCode" | "signal"> {
  if (outcome.kind !== "exited") return { exitCode: "exitCode" in outcome ? outcome.exitCode : null, signal: null };
  const { exitCode, signal, evidence } = outcome;
  // The runner ended what was still running after the final line, so the process had no say in how it ended.
  const cause = (evidence.endRecord ?? evidence.termination)?.cause;
  if (report.succeeded && cause === "final-line") return { exitCode: 0, signal: null };
  // Some CLIs exit with 1 for errors that they recovered from before they finished their turn.
  const recovered = report.finished && report.recovered.length > 0 && report.errors.length === 0;
  return { exitCode: exitCode === 1 && recovered ? 0 : exitCode, signal };
}

/** Why a CLI that ended by itself has failed; null = it succeeded. */
export function exitFailure(result: Exited): Failure | null {
  const unstarted = withoutRunner(result);
  if (unstarted !== null) return unstarted;
  const failure = withReadOnlyHint(causeOf(result), result);
  const { memory, warnings } = result.outcome.evidence;
  const killed = memory.killed ? warnings[0] : undefined;
  if (failure === null || killed === undefined) return failure;
  // Processes killed for lack of memory come before what the CLI made of their loss; a fault that it names itself keeps its code.
  const errorCode = failure.errorCode === "adapter_failed" ? "k8s_oom_killed" : failure.errorCode;
  return { ...failure, errorCode, errorMessage: `${sentence(killed)}; then: ${failure.errorMessage}` };
}

/** The container has ended, and nothing shows that the runner in it had begun, which starts the CLI: its last words say why. */
function withoutRunner({ outcome: { evidence }, report }: Exited): Failure | null {
  const { proof, container, timings, output } = evidence;
  if (proof !== "container-state" || timings.started !== null || output.delivered > 0 || report.events > 0) return null;
  // On a volume that did not answer the CLI may have left no trace.
  if (output.problem !== null) return null;
  if (container?.kind !== "terminated" || container.exitCode === 0) return null;
  const said = container.message === null ? "" : `: ${lastWords(container.message)}`;
  return {
    errorCode: "k8s_runner_failed",
    errorMessage: `The runner did not start, so neither did the CLI${withExit(container.exitCode)}${said}. Look at the image, and at variables such as NODE_OPTIONS`,
  };
}

/** Of a program that ends with a stack, the line that names the error. */
function lastWords(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return (lines.find((line) => /^\w*Error\b.*:|\berror:/i.test(line)) ?? lines.findLast((line) => line !== "") ?? "").slice(0, 300);
}

/** What programs say when they write to a folder of the image. */
const READ_ONLY = /\bEROFS\b|read-only file system/i;
const READ_ONLY_HINT =
  "; a pod can write to its home, /tmp and its workspace only: if the image needs more, force.readOnlyRootFilesystem: false in the policy allows it";

function withReadOnlyHint(failure: Failure | null, { outcome, stderr }: Exited): Failure | null {
  // The shared volume's own trouble is not the image's.
  const own = failure?.errorMessage.replace(missingText(outcome.evidence.output), "");
  if (failure === null || !READ_ONLY.test(`${own}\n${stderr}`)) return failure;
  return { ...failure, errorMessage: `${failure.errorMessage}${READ_ONLY_HINT}` };
}

function causeOf(result: Exited): Failure | null {
  const { report, fault, outcome } = result;
  const { exitCode, signal } = exitOf(result);
  const { output } = outcome.evidence;
  if (output.forged) return { errorCode: "k8s_output_forged", errorMessage: `${FORGED}${withExit(exitCode)}` };
  const lost = output.complete ? "" : missingText(output);
  const before = report.succeeded ? " after it had reported success" : "";
  if (fault !== null && !(signal !== null && fault.kind === "truncated"))
    return { ...faultFailure(fault, result.endedAt), errorMessage: `${faultText(fault)}${withExit(exitCode)}${lost}` };
  if (signal !== null)
    return { errorCode: "adapter_failed", errorMessage: `The CLI was ended by ${signal}${before}${complaint(result)}${lost}` };
  if (exitCode !== 0) return { errorCode: "adapter_failed", errorMessage: `${exitMessage(result)}${lost}` };
  if (!output.complete)
    return { errorCode: "k8s_output_incomplete", errorMessage: `The CLI exited with code 0, but its output is incomplete${lost}` };
  if (report.errors.length > 0) return { errorCode: "adapter_failed", errorMessage: `${report.errors[0]} (exit code 0)` };
  if (report.sessionId !== null && report.outputTokens === 0 && report.text === "")
    return { errorCode: "llm_api_error", errorMessage: "The model returned nothing: no text and no output tokens" };
  if (report.events === 0) return { errorCode: "adapter_failed", errorMessage: "The CLI exited with code 0 without any output" };
  return null;
}

const FORGED =
  "Another program has written to this run's output file, so nothing in it counts: no result, no cost, no session. Look for the agent that can write there";

function exitMessage(result: Exited): string {
  const exit = withExit(exitOf(result).exitCode);
  const readable = firstReadable(result);
  if (!result.report.succeeded) return `${readable ?? "The CLI failed"}${exit}`;
  return `The CLI failed after it had reported success${exit}${readable === null ? "" : `: ${readable}`}`;
}

export function faultFailure(fault: CliFault, now: number): Omit<Failure, "errorMessage"> {
  const errorCode = fault.code ?? FAULT_CODES[fault.kind];
  const at = fault.retryAt ?? (fault.retryAfterSec === null ? null : now + fault.retryAfterSec * 1000);
  // The agent's output names the time, so it is limited: no provider makes anybody wait longer, and `Date` cannot show every number.
  const later = at === null || !(at >= 0) ? {} : { retryNotBefore: new Date(Math.min(at, now + LONGEST_WAIT_MS)).toISOString() };
  if (fault.kind === "quota") return { errorCode, errorFamily: "provider_quota", ...later };
  if (fault.kind === "transient") return { errorCode, errorFamily: "transient_upstream", ...later };
  if (fault.kind === "refusal") return { errorCode, errorFamily: "model_refusal" };
  if (CLEARING.has(fault.kind)) return { errorCode, clearSession: true };
  return { errorCode };
}

const faultText = ({ message, remedy }: CliFault): string => (remedy === undefined ? message : `${message.replace(/\.$/, "")}; ${remedy}`);

export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export const withExit = (exitCode: number | null): string => (exitCode === null ? "" : ` (exit code ${exitCode})`);

/** What the CLI itself complained about, to stand after the cause. */
export function complaint({ report, fault }: Exited): string {
  // A fault of no known kind may be our own inference from how the stream ends.
  const inferred = fault === null || fault.kind === "other" || fault.kind === "truncated";
  const text = report.errors[0] ?? (inferred ? undefined : fault.message);
  return text === undefined ? "" : `; the CLI said: ${text}`;
}

function missingText({ expected, delivered, problem }: RunOutcome["evidence"]["output"]): string {
  const missing = (expected ?? 0) - delivered;
  const known = missing < 0 ? `${-missing} bytes more than the run had counted` : `${missing} of ${expected} bytes are missing`;
  const bytes = expected === null ? "its end was not proved" : known;
  return `; output: ${bytes}${problem === null ? "" : ` (${problem})`}`;
}

function firstReadable({ report, stderr }: Exited): string | null {
  const error = report.errors[0];
  if (error !== undefined) return error;
  const line = stderr.split("\n").find((candidate) => /[A-Za-z]{3}/.test(candidate) && !candidate.trimStart().startsWith("{"));
  return line === undefined ? null : line.trim().slice(0, 500);
}
