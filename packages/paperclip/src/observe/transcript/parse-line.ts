import type { Entry, StepEndEntry, ToolResultEntry } from "../../agent-cli/entry.ts";
import { readLine } from "./read-line.ts";

/** The kinds of the host's transcript entries that we make, as types of our own; a test proves that they fit the host's. */
export type TranscriptEntry =
  | { kind: "assistant" | "thinking"; ts: string; text: string; delta: true }
  | { kind: "system" | "stdout"; ts: string; text: string }
  | { kind: "tool_call"; ts: string; name: string; input: unknown; toolUseId: string }
  | { kind: "tool_result"; ts: string; toolUseId: string; content: string; isError: boolean }
  | { kind: "init"; ts: string; model: string; sessionId: string }
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

/** A transcript line as the host's page shows it. Without state: the host mixes lines of several runs and caches by line. */
export function parseLine(line: string, ts: string): TranscriptEntry[] {
  const entry = readLine(line);
  if (entry === undefined) return [];
  // The host puts neighbouring commands together; the end of a step between them would keep it from that.
  return entry.kind === "step_end" && entry.goesOn ? [] : [toHost(entry, ts)];
}

function toHost(entry: Entry, ts: string): TranscriptEntry {
  switch (entry.kind) {
    case "assistant":
    case "thinking":
      // The host joins the lines of one text because of `delta`.
      return { kind: entry.kind, ts, text: `${entry.text}\n`, delta: true };
    case "tool_call":
      return { kind: "tool_call", ts, name: entry.tool, input: entry.input, toolUseId: entry.id };
    case "tool_result":
      return { kind: "tool_result", ts, toolUseId: entry.id, content: content(entry), isError: entry.isError };
    case "step_end":
      return stepResult(entry, ts);
    case "init":
      return { kind: "init", ts, model: entry.model, sessionId: entry.sessionId };
    case "error":
      return failure(entry.text, ts);
    case "status":
      return { kind: "system", ts, text: entry.text };
    case "other":
      return { kind: "stdout", ts, text: entry.text };
  }
}

// The host takes an empty result for one that is still to come.
function content({ text, exitCode }: ToolResultEntry): string {
  const parts = [text, exitCode === null ? "" : `exit code ${exitCode}`].filter((part) => part !== "");
  return parts.length === 0 ? "(no output)" : parts.join("\n");
}

/** As a result, because the host folds what comes as stderr away. */
function failure(text: string, ts: string): StepResult {
  const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  return { kind: "result", ts, text, ...nothing, subtype: "error", isError: true, errors: [text] };
}

function stepResult({ reason, tokens, costUsd }: StepEndEntry, ts: string): StepResult {
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
