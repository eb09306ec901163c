import type { CliError } from "./events.ts";
import type { OpenCodeResult } from "./parse.ts";
import { type LogError, readStderr } from "./stderr.ts";

export type FailureKind =
  | "session_unknown"
  | "auth"
  | "model_not_found"
  | "quota"
  | "overloaded"
  | "context_overflow"
  | "output_limit"
  | "permission_rejected"
  | "stopped_midway"
  | "other";

export interface Failure {
  readonly kind: FailureKind;
  /** One readable sentence: what the CLI said. */
  readonly message: string;
  readonly retryAfterSec: number | null;
}

const byName: Readonly<Record<string, FailureKind>> = {
  ProviderAuthError: "auth",
  ProviderModelNotFoundError: "model_not_found",
  ContextOverflowError: "context_overflow",
  MessageOutputLengthError: "output_limit",
};

// Providers disagree about status codes, so the words of the error go before them. Order matters: "quota" errors often mention the key.
const byWords: readonly (readonly [RegExp, FailureKind])[] = [
  [/context (length|window)|prompt is too long|too many tokens|maximum context/i, "context_overflow"],
  [/quota|rate.?limit|too many requests|usage limit|insufficient (funds|credit|balance)|credit balance|billing/i, "quota"],
  [/model not found|no such model|model .{0,80}(does not exist|not found|is not supported)/i, "model_not_found"],
  [/api key|unauthori[sz]ed|authentication|invalid x-api-key|credentials/i, "auth"],
  [/overloaded|temporarily unavailable|service unavailable|bad gateway|gateway time-?out|internal server error/i, "overloaded"],
  [
    /ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|socket hang up|fetch failed|unable to connect|socket connection was closed/i,
    "overloaded",
  ],
];

function byStatus(status: number | null): FailureKind | undefined {
  if (status === null) return undefined;
  if (status === 401 || status === 403) return "auth";
  if (status === 402 || status === 429) return "quota";
  if (status === 413) return "context_overflow";
  return status === 408 || status >= 500 ? "overloaded" : undefined;
}

// What OpenCode says of a provider that nobody described to it.
const noBaseUrl = /^"?undefined\/.*cannot be parsed as a URL/;

function kindOf(name: string, message: string, status: number | null): FailureKind {
  return byName[name] ?? byWords.find(([words]) => words.test(message))?.[1] ?? byStatus(status) ?? "other";
}

// "Unexpected server error" says nothing; the log line with the same reference says what it was.
function explain(error: CliError, log: readonly LogError[]): { name: string; message: string } {
  if (noBaseUrl.test(error.message))
    return { name: "ProviderModelNotFoundError", message: "The model's provider is not known to OpenCode" };
  const line = error.ref === null ? undefined : log.find(({ ref }) => ref === error.ref);
  return line ?? error;
}

function fromError(error: CliError, log: readonly LogError[]): Failure {
  const { name, message } = explain(error, log);
  const kind = kindOf(name, message, error.status);
  return { kind: kind === "other" && error.retryable ? "overloaded" : kind, message, retryAfterSec: error.retryAfterSec };
}

/**
 * Why a run failed, from the CLI's own error events and its stderr only: what the assistant or a tool wrote proves nothing.
 * Null when neither names a failure.
 */
export function classify(result: OpenCodeResult, stderr: string): Failure | null {
  const said = readStderr(stderr);
  const first = result.errors[0];
  if (first) return fromError(first, said.log);
  if (/^session not found/i.test(said.fatal ?? "")) return { kind: "session_unknown", message: "Session not found", retryAfterSec: null };
  if (result.finishReason === "stop") return null;
  if (said.fatal !== null) return { kind: kindOf("", said.fatal, null), message: said.fatal, retryAfterSec: null };
  if (result.finishReason === "length") {
    return { kind: "output_limit", message: "The model's answer reached its output limit", retryAfterSec: null };
  }
  if (said.rejected !== null) return { kind: "permission_rejected", message: `Permission rejected: ${said.rejected}`, retryAfterSec: null };
  // OpenCode retries in silence, for minutes or as long as the provider asks; a run that was ended meanwhile has only its log to tell why.
  const logged = said.log.at(-1);
  if (logged) return { kind: kindOf(logged.name, logged.message, null), message: logged.message, retryAfterSec: null };
  if (result.finishReason === null) return null;
  return { kind: "stopped_midway", message: "OpenCode stopped after a tool call, without an answer", retryAfterSec: null };
}
