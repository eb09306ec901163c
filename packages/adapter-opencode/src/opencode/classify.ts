import type { CliFault, FaultKind } from "@paperclip-k8s/paperclip";
import type { CliError } from "./events.ts";
import type { OpenCodeResult } from "./parse.ts";
import { type LogError, readStderr } from "./stderr.ts";

const fault = (kind: FaultKind, message: string, retryAfterSec: number | null = null): CliFault => ({ kind, message, retryAfterSec });

const byName: Readonly<Record<string, FaultKind>> = {
  ProviderAuthError: "auth",
  ProviderModelNotFoundError: "model-not-found",
  ContextOverflowError: "context-overflow",
  MessageOutputLengthError: "other",
};

// Providers disagree about status codes, so the words of the error go before them. Order matters: "quota" errors often mention the key.
const byWords: readonly (readonly [RegExp, FaultKind])[] = [
  [/context (length|window)|prompt is too long|too many tokens|maximum context/i, "context-overflow"],
  [/quota|rate.?limit|too many requests|usage limit|insufficient (funds|credit|balance)|credit balance|billing/i, "quota"],
  [/model not found|no such model|model .{0,80}(does not exist|not found|is not supported)/i, "model-not-found"],
  [/api key|unauthori[sz]ed|authentication|invalid x-api-key|credentials/i, "auth"],
  [/overloaded|temporarily unavailable|service unavailable|bad gateway|gateway time-?out|internal server error/i, "transient"],
  [
    /ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|socket hang up|fetch failed|unable to connect|socket connection was closed/i,
    "transient",
  ],
];

function byStatus(status: number | null): FaultKind | undefined {
  if (status === null) return undefined;
  if (status === 401 || status === 403) return "auth";
  if (status === 402 || status === 429) return "quota";
  if (status === 400 || status === 422) return "bad-request";
  if (status === 413) return "context-overflow";
  return status === 408 || status >= 500 ? "transient" : undefined;
}

// OpenCode's message for a provider that is not described to it.
const noBaseUrl = /^"?undefined\/.*cannot be parsed as a URL/;

function kindOf(name: string, message: string, status: number | null): FaultKind {
  return byName[name] ?? byWords.find(([words]) => words.test(message))?.[1] ?? byStatus(status) ?? "other";
}

// "Unexpected server error" is no cause; the log line with the same reference names it.
function explain(error: CliError, log: readonly LogError[]): { name: string; message: string } {
  if (noBaseUrl.test(error.message))
    return { name: "ProviderModelNotFoundError", message: "The model's provider is not known to OpenCode" };
  const line = error.ref === null ? undefined : log.find(({ ref }) => ref === error.ref);
  return line ?? error;
}

function fromError(error: CliError, log: readonly LogError[]): CliFault {
  const { name, message } = explain(error, log);
  const kind = kindOf(name, message, error.status);
  return fault(kind === "other" && error.retryable ? "transient" : kind, message, error.retryAfterSec);
}

/**
 * Why a run failed, from the CLI's own error events and its stderr only: what the assistant or a tool wrote proves nothing.
 * Null when neither names a failure.
 */
export function classify(result: OpenCodeResult, stderr: string): CliFault | null {
  const found = readStderr(stderr);
  const first = result.errors[0];
  if (first) return fromError(first, found.log);
  if (/^session not found/i.test(found.fatal ?? "")) return fault("unknown-session", "Session not found");
  if (result.finishReason === "stop") return null;
  if (found.refusedArguments) return fault("bad-arguments", "OpenCode printed its usage instead, as for an option that it does not know");
  if (found.fatal !== null) return fault(kindOf("", found.fatal, null), found.fatal);
  if (result.finishReason === "length") return fault("other", "The model's answer reached its output limit");
  if (found.rejected !== null) return fault("other", `Permission rejected: ${found.rejected}`);
  // OpenCode retries without an event, for minutes or as long as the provider asks; of a run that was ended meanwhile only its log has the cause.
  const logged = found.log.at(-1);
  if (logged) return fault(kindOf(logged.name, logged.message, null), logged.message);
  if (result.unreadable !== null) return fault("truncated", result.unreadable);
  if (result.finishReason === null) return null;
  return fault("other", "OpenCode stopped after a tool call, without an answer");
}
