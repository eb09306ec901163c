import type { Entry, ToolResultEntry } from "../../agent-cli/entry.ts";
import { type TranscriptEntry, toFailure, toStepResult } from "./parse-line.ts";

/** What an event of one CLI means; undefined = the line is no event that its adapter knows. */
export type ReadEvent = (line: string) => readonly Entry[] | undefined;

/** A line of a log of raw lines, as the host's page shows it; undefined = it is a line of ours or of nobody we know. Without state, as `parseLine`. */
export function parseEventLine(read: ReadEvent, line: string, ts: string): TranscriptEntry[] | undefined {
  return entriesIn(read, line)
    ?.slice(0, MOST_ENTRIES)
    .flatMap((entry) => toHost(entry, ts));
}

/** The most that one line may bring; an honest one brings a few. */
const MOST_ENTRIES = 1000;

/** An agent can write anything: a line that a parser fails at is shown as it is. */
export function entriesIn(read: ReadEvent, line: string): readonly Entry[] | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return read(line);
  } catch {
    return undefined;
  }
}

function toHost(entry: Entry, ts: string): TranscriptEntry[] {
  switch (entry.kind) {
    case "assistant":
    case "thinking":
      return entry.text.trim() === "" ? [] : [{ kind: entry.kind, ts, text: `${entry.text.trimEnd()}\n`, delta: true }];
    case "tool_call":
      return [{ kind: "tool_call", ts, name: entry.tool, input: entry.input, toolUseId: entry.id }];
    case "tool_result":
      return [toolResult(entry, ts)];
    case "step_end":
      // Each step has its own: the sum of a turn would need the lines before it.
      return [toStepResult(entry, ts)];
    case "error":
      return [toFailure(entry.text, ts)];
    case "init":
      return [{ kind: "init", ts, model: entry.model, sessionId: entry.sessionId }];
    case "status":
    case "other":
      return [{ kind: "system", ts, text: entry.text }];
  }
}

function toolResult({ id, text, isError, exitCode }: ToolResultEntry, ts: string): TranscriptEntry {
  const isFailure = isError || (exitCode !== null && exitCode !== 0);
  return {
    kind: "tool_result",
    ts,
    toolUseId: id,
    content: text || (isFailure ? `exit ${exitCode ?? "?"}` : "(no output)"),
    isError: isFailure,
  };
}
