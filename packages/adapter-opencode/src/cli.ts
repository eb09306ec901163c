import { formatTranscriptLine } from "@paperclip-k8s/paperclip/transcript/terminal";
import { toLines } from "@paperclip-k8s/paperclip/transcript/to-lines";
import { readEvent } from "./opencode/events.ts";

export interface FormatOptions {
  readonly color: boolean;
  readonly width: number;
}

/** A line of a run's log, or of OpenCode's own output, as a person at a terminal wants to read it; empty when there is nothing to show. */
export function formatLine(line: string, options: FormatOptions): string {
  const event = readEvent(line);
  const lines = event ? event.entries.flatMap(toLines) : [line];
  const shown = lines.map((each) => formatTranscriptLine(each, options)).filter((text) => text !== null);
  // An empty line of a text is something to show.
  return shown.length > 0 ? shown.join("\n") || " " : "";
}

/** The name under which the host's command line looks for a formatter. */
export function formatStdoutEvent(line: string, debug: boolean): void {
  const text = formatLine(line, { color: process.stdout.isTTY === true, width: process.stdout.columns ?? 100 });
  if (text !== "" || debug) console.log(text === "" ? line : text);
}
