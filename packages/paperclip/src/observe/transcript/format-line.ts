import { styleText } from "node:util";
import type { Entry } from "../../agent-cli/entry.ts";
import { cleanText } from "../clean-text.ts";
import { unfold } from "./fold.ts";
import { mark, STATUS } from "./marks.ts";
import { toLines } from "./to-lines.ts";

type Style = Parameters<typeof styleText>[0];

/** How many lines of a folded text a terminal shows. */
const SHOWN_LINES = 6;
const FOLDED: readonly string[] = [mark.call, mark.success, mark.failure, mark.error];
const STYLES: Readonly<Record<string, Style>> = {
  [mark.assistant]: "green",
  [mark.assistantMore]: "green",
  [mark.call]: "cyan",
  [mark.failure]: "red",
  [mark.error]: "red",
};

interface LineFormatter {
  /** A line of a run's log, or of the CLI's own output, as a person at a terminal wants to read it; empty when there is nothing to show. */
  readonly formatLine: (line: string, options: { readonly color: boolean }) => string;
  /** Prints a line to this terminal; one that has nothing to show only where everything is wanted. */
  readonly printLine: (line: string, debug: boolean) => void;
}

/** `read` gives the entries of an event of the CLI, undefined for any other line. */
export function lineFormatter(read: (line: string) => readonly Entry[] | undefined): LineFormatter {
  const formatLine: LineFormatter["formatLine"] = (line, { color }) => {
    // Text of others must not steer the terminal.
    const lines = read(line)?.flatMap(toLines) ?? [cleanText(line).trim()];
    // Steps that only lead to the next one would be noise between a call and its answer.
    const shown = lines.filter((each) => each !== "" && !each.startsWith(mark.stepGoesOn));
    return shown.map((each) => (color ? painted(unfolded(each)) : unfolded(each))).join("\n");
  };
  const printLine = (line: string, debug: boolean): void => {
    const text = formatLine(line, { color: process.stdout.isTTY === true });
    if (text !== "" || debug) console.log(text === "" ? cleanText(line) : text);
  };
  return { formatLine, printLine };
}

/** The lines of a text that stands in one line of the log, below each other. */
function unfolded(line: string): string {
  if (!FOLDED.includes(line.charAt(0))) return line;
  const lines = unfold(line).trimEnd().split("\n");
  const more = lines.length - SHOWN_LINES;
  return [...lines.slice(0, SHOWN_LINES), ...(more > 0 ? [`… ${more} more lines`] : [])].join("\n    ");
}

/** The mark in its colour; what is neither the agent's words nor its work is dim. */
function painted(line: string): string {
  const style = STYLES[line.charAt(0)];
  const paint = (how: Style, text: string) => styleText(how, text, { validateStream: false });
  if (style !== undefined) return `${paint(style, line.charAt(0))}${line.slice(1)}`;
  return line.startsWith(STATUS) || !line.startsWith(mark.success) ? paint("dim", line) : line;
}
