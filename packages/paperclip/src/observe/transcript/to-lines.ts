import type { Entry, InitEntry, SpokenEntry, ToolResultEntry } from "../../agent-cli/entry.ts";
import { cleanText, joinLines, phrase } from "../clean-text.ts";
import { cut, fold } from "./fold.ts";
import { asForeign, mark, STATUS } from "./marks.ts";
import { writeStep } from "./step-line.ts";
import { shortId, writeToolCall } from "./write-tool-call.ts";

// With mark, id and note a line stays below the 8 KiB that the host's live view takes at once.
const LINE_BYTES = 7 * 1024;
/** The most that is shown of one text; a model's answer is shorter. */
const SPOKEN_BYTES = 1024 * 1024;
/** The most entries that one line of a CLI's output may bring; an honest one brings a few. */
const MOST_ENTRIES = 1000;

/** What a CLI's output means, as the lines of its transcript for the host's log. */
export class TranscriptLines {
  #last: Entry["kind"] | null = null;

  /** Lines without newlines; none when there is nothing to show. */
  push(all: readonly Entry[]): string[] {
    const left = all.length - MOST_ENTRIES;
    const entries = left <= 0 ? all : [...all.slice(0, MOST_ENTRIES), { kind: "other", text: `… ${left} more of the same line` } as const];
    return entries.flatMap((entry) => {
      const lines = toLines(entry);
      if (lines.length === 0) return [];
      const gap = this.#gap(entry.kind);
      this.#last = entry.kind;
      return [...gap, ...lines];
    });
  }

  // The host joins texts of one kind that follow each other; an empty line keeps them apart as paragraphs.
  #gap(kind: Entry["kind"]): string[] {
    if (kind !== this.#last) return [];
    if (kind === "assistant") return [mark.assistantMore];
    return kind === "thinking" ? [mark.thinkingMore] : [];
  }
}

/** An entry as lines: readable as they are, and read back by `parseLine`. None when there is nothing to show. */
export function toLines(entry: Entry): string[] {
  switch (entry.kind) {
    case "assistant":
    case "thinking":
      return spoken(entry);
    case "tool_call":
      return [`${mark.call} ${writeToolCall(entry)}`];
    case "tool_result":
      return [toolResult(entry)];
    case "step_end":
      return [`${entry.goesOn ? mark.stepGoesOn : mark.stepEnd} ${writeStep(phrase(entry.reason), entry.tokens, entry.costUsd)}`];
    case "error":
      return [`${mark.error} ${oneLine(entry.text)}`.trimEnd()];
    case "init":
      return [init(entry)];
    case "status":
      return [status(joinLines(cleanText(entry.text)))];
    case "other":
      return foreign(entry.text);
  }
}

const oneLine = (text: string): string => fold(cut(cleanText(text).trimEnd(), LINE_BYTES));

// Outer blank lines go, and so does white space at the ends of lines: the host would trim it anyway.
function spoken({ kind, text }: SpokenEntry): string[] {
  const lines = cut(cleanText(text), SPOKEN_BYTES)
    .split("\n")
    .map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== "");
  if (first === -1) return [];
  const last = lines.findLastIndex((line) => line !== "");
  const [begin, more] = kind === "assistant" ? [mark.assistant, mark.assistantMore] : [mark.thinking, mark.thinkingMore];
  return lines.slice(first, last + 1).map((line, index) => `${index === 0 ? begin : more} ${line}`.trimEnd());
}

// The exit code stands before the id, where no output can be taken for it.
function toolResult({ id, text, isError, exitCode }: ToolResultEntry): string {
  const exit = exitCode === null || exitCode === 0 ? "" : `exit ${exitCode} `;
  return `${isError || exit !== "" ? mark.failure : mark.success} ${exit}${shortId(id)} ${oneLine(text)}`.trimEnd();
}

function init({ sessionId, model }: InitEntry): string {
  const parts = [sessionId === "" ? "" : `session ${phrase(sessionId)}`, model === "" ? "" : `model ${phrase(model)}`];
  return `${mark.init} ${parts.filter((part) => part !== "").join(" · ")}`.trimEnd();
}

const status = (line: string): string => (line.startsWith(STATUS) ? line : `${STATUS} ${line}`.trimEnd());

function foreign(text: string): string[] {
  const line = cut(cleanText(text).trim(), LINE_BYTES).replaceAll("\n", " ");
  return line === "" ? [] : [asForeign(line)];
}
