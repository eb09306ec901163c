import type { CliFault, FaultKind } from "@paperclip-k8s/paperclip";
import type { ApiFault } from "./events.ts";
import type { ClaudeRun } from "./parse.ts";
import { resetTime } from "./reset-time.ts";
import { readStderr } from "./stderr.ts";
import type { TurnResult } from "./turn-result.ts";

/** The host's own codes for what its own adapter of this CLI reports. */
const CODES: Partial<Record<FaultKind, string>> = {
  auth: "claude_auth_required",
  transient: "claude_transient_upstream",
  refusal: "claude_refusal",
  truncated: "claude_truncated",
};

/** How much of stderr is searched for a log-in page: the pattern can take time in proportion to the square of the length. */
const LOOKED_AT = 4096;
const HOW_TO_LOG_IN =
  "set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN with a token of `claude setup-token`, in the agent's environment variables";

const fault = (kind: FaultKind, message: string, more: Partial<CliFault> = {}): CliFault => ({
  kind,
  message,
  retryAfterSec: null,
  ...(CODES[kind] === undefined ? {} : { code: CODES[kind] }),
  ...more,
});

/**
 * Why a run failed, from Claude Code's own result, its error events and its stderr only: what the assistant or a tool wrote proves nothing.
 * Null when nothing is wrong, or when only the exit code shows it.
 */
export function classify(run: ClaudeRun, stderr: string, now: number): CliFault | null {
  const { result } = run;
  if (result === null) return withoutResult(run, stderr);
  if (result.stopReason === "refusal") return fault("refusal", refusalText(result));
  if (result.succeeded) return null;
  const message = result.errors[0] ?? "Claude Code ended with an error";
  if (result.subtype === "error_max_turns") return fault("step-limit", message);
  const kind = kindOf(message, result, run.fault);
  if (kind === "auth") return fault(kind, message, { remedy: loginHint(message, stderr) });
  if (kind === "quota") {
    const retryAt = run.resetsAt ?? resetTime(message, now);
    return fault(kind, message, retryAt === null ? {} : { retryAt });
  }
  return fault(kind, message);
}

/** Order matters: a corrupted session is reported as a bad request, like many other errors. */
const BY_WORDS: readonly (readonly [RegExp, FaultKind])[] = [
  [/no conversation found with session id|is not a UUID|does not match any session title/i, "unknown-session"],
  [/previous_message_id.*starts with `msg_`|could not process image|image .{0,40}could not be processed/is, "corrupted-session"],
  [/`tool_use` ids were found without `tool_result`|unexpected `tool_use_id` found in `tool_result`/i, "corrupted-session"],
  [/prompt is too long|context (length|window)/i, "context-overflow"],
  [/usage limit reached|hit your .{0,40}limit|credit balance is too low|out of extra usage/i, "quota"],
  [/not logged in|invalid api key|please run \/login|oauth token (has expired|revoked)/i, "auth"],
];

const BY_ERROR: Readonly<Record<string, FaultKind>> = {
  authentication_failed: "auth",
  oauth_org_not_allowed: "auth",
  model_not_found: "model-not-found",
  rate_limit: "quota",
  billing_error: "quota",
  server_error: "transient",
  overloaded: "transient",
};

function kindOf(message: string, result: Pick<TurnResult, "status" | "terminalReason">, error: ApiFault | null): FaultKind {
  if (result.terminalReason === "prompt_too_long") return "context-overflow";
  const worded = BY_WORDS.find(([words]) => words.test(message))?.[1];
  return worded ?? BY_ERROR[error?.error ?? ""] ?? byStatus(result.status ?? error?.status ?? null);
}

function byStatus(status: number | null): FaultKind {
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "model-not-found";
  if (status === 402 || status === 429) return "quota";
  if (status === 400 || status === 422) return "bad-request";
  return status === 408 || (status ?? 0) >= 500 ? "transient" : "other";
}

/** There is no result event: the CLI could not begin, was still trying, or was cut off. */
function withoutResult(run: ClaudeRun, stderr: string): CliFault | null {
  const found = readStderr(stderr);
  if (found.unknownOption === "--effort") return fault("other", found.fatal ?? "", { unknownOption: found.unknownOption });
  if (found.unknownOption !== null)
    return fault("bad-arguments", `Claude Code, in the version of this image, does not know the option ${found.unknownOption}`);
  if (found.sessionUnknown) return fault("unknown-session", found.fatal ?? "No conversation found");
  if (run.fault !== null) {
    const kind = kindOf(run.fault.text, { status: run.fault.status, terminalReason: null }, run.fault);
    return fault(kind, `Claude Code was stopped by an error of the API or while it waited to try again: ${run.fault.text}`);
  }
  if (run.unreadable !== null) return fault("truncated", run.unreadable);
  // Without any event its stderr or exit code is the better evidence.
  if (run.events === 0) return null;
  const model = run.model === null ? "" : ` with model ${run.model}`;
  return fault(
    "truncated",
    `Claude Code started${model}, but its output ends without a result: check the model, the provider's key and the pod's memory`,
  );
}

function refusalText(result: TurnResult): string {
  return result.succeeded ? `The model declined to answer${result.text === "" ? "" : `: ${result.text}`}` : (result.errors[0] ?? "");
}

/** A page to log in at, where the CLI names one. */
function loginHint(message: string, stderr: string): string {
  const url = /https:\/\/[^\s'"<>()]*(?:claude|anthropic|login|auth)[^\s'"<>(),.]*/i.exec(`${message}\n${stderr.slice(-LOOKED_AT)}`)?.[0];
  return url === undefined || message.includes(url) ? HOW_TO_LOG_IN : `log in at ${url}, or ${HOW_TO_LOG_IN}`;
}
