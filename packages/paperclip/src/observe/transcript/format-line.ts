import type { Entry } from "../../agent-cli/entry.ts";
import { formatTranscriptLine, type TerminalOptions } from "./terminal.ts";
import { toLines } from "./to-lines.ts";

export interface LineFormatter {
  /** A line of a run's log, or of the CLI's own output, as a person at a terminal wants to read it; empty when there is nothing to show. */
  readonly formatLine: (line: string, options: TerminalOptions) => string;
  /** Prints a line to this terminal; one that has nothing to show only where everything is wanted. */
  readonly printLine: (line: string, debug: boolean) => void;
}

/** `read` gives the entries of an event of the CLI, undefined for any other line. */
export function lineFormatter(read: (line: string) => readonly Entry[] | undefined): LineFormatter {
  const formatLine: LineFormatter["formatLine"] = (line, options) => {
    const lines = read(line)?.flatMap(toLines) ?? [line];
    const shown = lines.map((each) => formatTranscriptLine(each, options)).filter((text) => text !== null);
    // An empty line of a text is something to show.
    return shown.length > 0 ? shown.join("\n") || " " : "";
  };
  const printLine = (line: string, debug: boolean): void => {
    const text = formatLine(line, { color: process.stdout.isTTY === true, width: process.stdout.columns ?? 100 });
    if (text !== "" || debug) console.log(text === "" ? line : text);
  };
  return { formatLine, printLine };
}
