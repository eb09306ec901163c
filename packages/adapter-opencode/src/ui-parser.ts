import { describe, type Entry } from "./opencode/events.ts";

/** The kinds of the host's transcript entries that we make, restated so that the published declarations stand alone. */
export type TranscriptEntry =
  | { kind: "assistant" | "thinking" | "stderr" | "system" | "stdout"; ts: string; text: string }
  | { kind: "tool_call"; ts: string; name: string; input: unknown; toolUseId: string }
  | { kind: "tool_result"; ts: string; toolUseId: string; toolName: string; content: string; isError: boolean }
  | StepResult;

interface StepResult {
  kind: "result";
  ts: string;
  text: string;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  costUsd: number;
  subtype: string;
  isError: boolean;
  errors: string[];
}

function stepResult(entry: Extract<Entry, { kind: "step_end" }>, ts: string): TranscriptEntry {
  const { tokens, reason, costUsd } = entry;
  return {
    kind: "result",
    ts,
    text: reason,
    inputTokens: tokens.input + tokens.cacheWrite,
    outputTokens: tokens.output + tokens.reasoning,
    cachedTokens: tokens.cacheRead,
    costUsd,
    subtype: reason,
    isError: false,
    errors: [],
  };
}

function errorText({ name, status, message }: Extract<Entry, { kind: "error" }>["error"]): string {
  const label = [name === "Error" || name === "UnknownError" ? "" : name, status === null ? "" : String(status)].filter(Boolean).join(" ");
  return label === "" ? message : `${label}: ${message}`;
}

function toTranscript(entry: Entry, ts: string): TranscriptEntry[] {
  switch (entry.kind) {
    case "assistant":
    case "thinking":
      return entry.text.trim() === "" ? [] : [{ kind: entry.kind, ts, text: entry.text }];
    case "tool_call":
      return [{ kind: "tool_call", ts, name: entry.tool, input: entry.input, toolUseId: entry.id }];
    case "tool_result": {
      const failed = entry.isError || (entry.exitCode ?? 0) !== 0;
      const content = entry.text || (entry.exitCode === null ? "" : `exit code ${entry.exitCode}`);
      return [{ kind: "tool_result", ts, toolUseId: entry.id, toolName: entry.tool, content, isError: failed }];
    }
    case "step_end":
      return [stepResult(entry, ts)];
    case "error":
      return [{ kind: "stderr", ts, text: errorText(entry.error) }];
    case "status":
      return [{ kind: "system", ts, text: entry.text }];
    case "other":
      return [{ kind: "stdout", ts, text: entry.text }];
  }
}

/** A line of a run's output as the host's transcript shows it. Without state: the host mixes lines of several runs and caches by line. */
export function parseStdoutLine(line: string, ts: string): TranscriptEntry[] {
  return describe(line).flatMap((entry) => toTranscript(entry, ts));
}
