import type { StepEndEntry } from "../../agent-cli/entry.ts";
import { readNamed } from "./call-name.ts";
import { unfold } from "./fold.ts";
import { mark, STATUS } from "./marks.ts";
import { readToolCall } from "./read-tool-call.ts";
import { readStep } from "./step-line.ts";

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

/** A transcript line as the host's page shows it. Without state: the host mixes lines of several runs, asks in any order and caches by line. */
export function parseLine(line: string, ts: string): TranscriptEntry[] {
  const trimmed = line.trim();
  if (trimmed === "") return [];
  if (trimmed.startsWith(STATUS)) return [{ kind: "system", ts, text: trimmed }];
  const isMarked = trimmed.length === 1 || trimmed.charAt(1) === " ";
  const entries = isMarked ? parseMarked(trimmed.charAt(0), trimmed.slice(2), ts) : undefined;
  return entries ?? [{ kind: "stdout", ts, text: trimmed }];
}

/** Undefined = not a line of ours, in spite of its mark. */
function parseMarked(first: string, text: string, ts: string): TranscriptEntry[] | undefined {
  switch (first) {
    case mark.assistant:
    case mark.assistantMore:
      // The host joins the lines of one text because of `delta`.
      return [{ kind: "assistant", ts, text: `${text}\n`, delta: true }];
    case mark.thinking:
    case mark.thinkingMore:
      return [{ kind: "thinking", ts, text: `${text}\n`, delta: true }];
    case mark.call: {
      const call = readToolCall(text);
      return call && [{ kind: "tool_call", ts, name: call.tool, input: call.input, toolUseId: call.id }];
    }
    case mark.success:
    case mark.failure:
      return toolResult(text, first === mark.failure, ts);
    case mark.stepEnd:
      return stepResult(text, ts);
    case mark.error:
      return [toFailure(unfold(text), ts)];
    case mark.init: {
      const parts = /^(?:session (\S+))?(?: · )?(?:model (.+))?$/.exec(text);
      return parts ? [{ kind: "init", ts, model: parts[2] ?? "", sessionId: parts[1] ?? "" }] : undefined;
    }
    case mark.foreign:
      return [{ kind: "stdout", ts, text }];
    default:
      return undefined;
  }
}

/** A result without a name belongs to the last call that is open: the host's page takes it so as well. */
function toolResult(line: string, isError: boolean, ts: string): TranscriptEntry[] | undefined {
  if (line === "") return undefined;
  const { name, text } = readNamed(line);
  return [{ kind: "tool_result", ts, toolUseId: name, content: unfold(text), isError }];
}

/** As a result, because the host folds what comes as stderr away. */
export function toFailure(text: string, ts: string): StepResult {
  const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  return { kind: "result", ts, text, ...nothing, subtype: "error", isError: true, errors: [text] };
}

function stepResult(line: string, ts: string): StepResult[] | undefined {
  const step = readStep(line);
  if (step === undefined) return undefined;
  return [toStepResult(step, ts)];
}

export function toStepResult({ reason, tokens, costUsd }: Omit<StepEndEntry, "kind" | "goesOn">, ts: string): StepResult {
  const used = {
    inputTokens: tokens.input + tokens.cacheWrite,
    outputTokens: tokens.output + tokens.reasoning,
    cachedTokens: tokens.cacheRead,
    costUsd,
  };
  return { kind: "result", ts, text: reason, ...used, subtype: reason, isError: false, errors: [] };
}
