import { styleText } from "node:util";
import type { Entry, StepEndEntry, ToolCallEntry, ToolResultEntry } from "../../agent-cli/entry.ts";
import { groupDigits } from "./group-digits.ts";
import { looksLikeOurs, mark } from "./marks.ts";
import { readLine } from "./read-line.ts";
import { writeStep } from "./step-line.ts";
import { columns, harmless, shorten, wrap } from "./wrap.ts";

export interface TerminalOptions {
  readonly color: boolean;
  readonly width: number;
}

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

const RESULT_LINES = 6;
const MIN_WIDTH = 24;

/** A transcript line as a person at a terminal wants to read it; null when there is nothing to show. */
export function formatTranscriptLine(line: string, { color, width }: TerminalOptions): string | null {
  const read = readLine(line);
  const paint: Paint = (style, text) => (color ? styleText(style, text, { validateStream: false }) : text);
  return read ? formatEntry(read.entry, read.more, Math.max(width, MIN_WIDTH), paint) : null;
}

function formatEntry(entry: Entry, more: boolean, width: number, paint: Paint): string | null {
  switch (entry.kind) {
    case "assistant":
      return block(wrap(harmless(entry.text), width - 2), more ? "  " : `${paint("green", mark.assistant)} `, "  ", (line) => line);
    case "thinking":
      return block(wrap(harmless(entry.text), width - 2), more ? "  " : `${paint("dim", mark.thinking)} `, "  ", (line) =>
        paint(["dim", "italic"], line),
      );
    case "tool_call":
      return toolCall(entry, width, paint);
    case "tool_result":
      return toolResult(entry, width, paint);
    case "step_end":
      return stepEnd(entry, width, paint);
    case "error":
      return block(wrap(harmless(entry.text), width - 2), `${paint("red", mark.error)} `, "  ", (line) => paint("red", line));
    case "init":
      return paint("dim", shorten(`  ${harmless([entry.sessionId, entry.model].filter((part) => part !== "").join(" · "))}`, width));
    case "status":
      return block(wrap(harmless(entry.text), width - 2), "", "  ", (line) => paint("dim", line));
    case "other":
      return block(wrap(harmless(entry.text), width - 2), looksLikeOurs(entry.text) ? `${mark.foreign} ` : "", "  ", (line) =>
        paint("dim", line),
      );
  }
}

// Each line gets its own codes, so that a cut or a pager never leaves the colour on.
function block(lines: readonly string[], first: string, rest: string, paint: (line: string) => string): string {
  return lines.map((line, index) => (line === "" ? "" : (index === 0 ? first : rest) + paint(line))).join("\n");
}

function toolCall({ tool, title, input }: ToolCallEntry, width: number, paint: Paint): string {
  const name = shorten(harmless(tool), width - 2);
  const [first = "", ...rest] = harmless(title).trim().split("\n");
  const about = first === "" && rest.length === 0 ? fieldsOf(input) : rest.length > 0 ? `${first} …` : first;
  const room = width - columns(name) - 4;
  const shown = room < 1 || about === "" ? "" : `  ${shorten(about, room)}`;
  return `${paint("cyan", mark.call)} ${paint("bold", name)}${shown}`;
}

const fieldsOf = (input: unknown): string => {
  const json = harmless(JSON.stringify(input) ?? "");
  return json === "{}" ? "" : json;
};

function toolResult({ text, isError, exitCode }: ToolResultEntry, width: number, paint: Paint): string {
  const lines = harmless(text).trimEnd().split("\n");
  const shown = lines.length > RESULT_LINES ? lines.slice(0, RESULT_LINES - 1) : lines;
  const more = lines.length - shown.length;
  const visible = shown.map((line) => shorten(line.trimEnd(), width - 4)).filter((line) => line !== "");
  if (more > 0) visible.push(`… ${groupDigits(more)} more lines`);
  if (exitCode !== null) visible.push(`exit code ${exitCode}`);
  if (visible.length === 0) visible.push("(no output)");
  return block(visible, isError ? `  ${paint("red", mark.failure)} ` : "    ", "    ", (line) => paint(isError ? "red" : "dim", line));
}

// Steps that only lead to the next one would be noise between a call and its answer.
function stepEnd({ reason, goesOn, tokens, costUsd }: StepEndEntry, width: number, paint: Paint): string | null {
  return goesOn ? null : paint("dim", shorten(`  ${harmless(writeStep(reason, tokens, costUsd))}`, width));
}
