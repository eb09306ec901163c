import { styleText } from "node:util";
import { describe, type Entry } from "./opencode/events.ts";
import { harmless, shorten, wrap } from "./opencode/wrap.ts";

export interface FormatOptions {
  readonly color: boolean;
  readonly width: number;
}

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

const RESULT_LINES = 6;
const MIN_WIDTH = 24;

const number = new Intl.NumberFormat("en");

// Each line gets its own codes, so that a cut or a pager never leaves the colour on.
function block(lines: readonly string[], first: string, rest: string, paint: (line: string) => string): string {
  return lines.map((line, index) => (line === "" ? "" : (index === 0 ? first : rest) + paint(line))).join("\n");
}

function toolResult(entry: Extract<Entry, { kind: "tool_result" }>, width: number, paint: Paint): string {
  const failed = entry.isError || (entry.exitCode ?? 0) !== 0;
  const lines = harmless(entry.text).trim().split("\n");
  const shown = lines.length > RESULT_LINES ? lines.slice(0, RESULT_LINES - 1) : lines;
  const more = lines.length - shown.length;
  const text = shown.map((line) => shorten(line.trimEnd(), width - 4));
  if (more > 0) text.push(`… ${number.format(more)} more lines`);
  if ((entry.exitCode ?? 0) !== 0) text.push(`exit code ${entry.exitCode}`);
  const visible = text.filter((line) => line !== "");
  if (visible.length === 0) visible.push("(no output)");
  return block(visible, failed ? `  ${paint("red", "✗")} ` : "    ", "    ", (line) => paint(failed ? "red" : "dim", line));
}

function stepEnd({ reason, tokens, costUsd }: Extract<Entry, { kind: "step_end" }>, paint: Paint): string {
  // Steps that only lead to the next one would be noise between a call and its answer.
  if (reason === "tool-calls") return "";
  const parts = [
    reason,
    `${number.format(tokens.input)} in`,
    ...(tokens.cacheRead ? [`${number.format(tokens.cacheRead)} cached`] : []),
    `${number.format(tokens.output)} out`,
    ...(tokens.reasoning ? [`${number.format(tokens.reasoning)} reasoning`] : []),
    ...(costUsd ? [`$${costUsd.toFixed(4)}`] : []),
  ];
  return paint("dim", `  ${parts.join(" · ")}`);
}

function errorLines({ error }: Extract<Entry, { kind: "error" }>, width: number, paint: Paint): string {
  const label = [error.name, error.status ?? ""].join(" ").trim();
  return block(wrap(`${label}: ${harmless(error.message)}`, width - 2), `${paint("red", "✗")} `, "  ", (line) => paint("red", line));
}

function formatEntry(entry: Entry, width: number, paint: Paint): string {
  switch (entry.kind) {
    case "assistant":
      return block(wrap(harmless(entry.text).trim(), width - 2), `${paint("green", "●")} `, "  ", (line) => line);
    case "thinking":
      return block(wrap(harmless(entry.text).trim(), width - 2), "  ", "  ", (line) => paint(["dim", "italic"], line));
    case "tool_call": {
      const [first = "", ...rest] = harmless(entry.title).trim().split("\n");
      const title = shorten(rest.length > 0 ? `${first} …` : first, width - entry.tool.length - 4);
      return `${paint("cyan", "▸")} ${paint("bold", harmless(entry.tool))}${title === "" ? "" : `  ${title}`}`;
    }
    case "tool_result":
      return toolResult(entry, width, paint);
    case "step_end":
      return stepEnd(entry, paint);
    case "error":
      return errorLines(entry, width, paint);
    default:
      return block(wrap(harmless(entry.text), width), "", "  ", (line) => paint("dim", line));
  }
}

/** A line of a run's output as a person at a terminal wants to read it; empty when there is nothing to show. */
export function formatLine(line: string, { color, width }: FormatOptions): string {
  const paint: Paint = (style, text) => (color ? styleText(style, text, { validateStream: false }) : text);
  return describe(line)
    .map((entry) => formatEntry(entry, Math.max(width, MIN_WIDTH), paint))
    .filter((text) => text !== "")
    .join("\n");
}

/** The name under which the host's command line looks for a formatter. */
export function formatStdoutEvent(line: string, debug: boolean): void {
  const text = formatLine(line, { color: process.stdout.isTTY === true, width: process.stdout.columns ?? 100 });
  if (text !== "" || debug) console.log(text === "" ? line : text);
}
