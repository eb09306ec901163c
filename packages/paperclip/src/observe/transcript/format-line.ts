import * as util from "node:util";
import { cleanText } from "../clean-text.ts";
import { entriesIn, type ReadEvent } from "./event-line.ts";
import { unfold } from "./fold.ts";
import { mark, STATUS } from "./marks.ts";
import { TranscriptLines } from "./to-lines.ts";

type Style = Parameters<typeof util.styleText>[0];

const FOLDED: readonly string[] = [mark.call, mark.success, mark.failure, mark.error];
const STYLES: Readonly<Record<string, Style>> = {
  [mark.assistant]: "green",
  [mark.assistantMore]: "green",
  [mark.call]: "cyan",
  [mark.failure]: "red",
  [mark.error]: "red",
};

/** The same for a line of a log of raw lines, whose events become lines of the transcript; `read` knows one CLI's events. */
export function formatEventLine(read: ReadEvent, line: string, options: { readonly color: boolean }): string {
  const entries = entriesIn(read, line.trim());
  if (entries === undefined) return formatLine(line, options);
  return new TranscriptLines()
    .push(entries)
    .map((each) => formatLine(each, options))
    .join("\n");
}

/** A line of a run's log for a terminal: the same words, a folded text below each other, and colour; empty when there is nothing to show. */
export function formatLine(line: string, { color }: { readonly color: boolean }): string {
  // Text of others must not steer the terminal.
  const text = unfolded(cleanText(line).trim());
  return color ? painted(text) : text;
}

/** Prints a line to this terminal, unless there is nothing to show. */
export function printEventLine(read: ReadEvent, line: string): void {
  const text = formatEventLine(read, line, { color: process.stdout.isTTY === true });
  if (text !== "") console.log(text);
}

const unfolded = (line: string): string => (FOLDED.includes(line.charAt(0)) ? unfold(line).replaceAll("\n", "\n    ") : line);

/** The mark in its colour; what is neither the agent's words nor its work is dim. */
function painted(line: string): string {
  const style = STYLES[line.charAt(0)];
  const paint = (how: Style, text: string) => util.styleText(how, text, { validateStream: false });
  if (style !== undefined) return `${paint(style, line.charAt(0))}${line.slice(1)}`;
  return line.startsWith(STATUS) || !line.startsWith(mark.success) ? paint("dim", line) : line;
}
