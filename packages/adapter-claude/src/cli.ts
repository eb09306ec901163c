import { lineFormatter } from "@paperclip-k8s/paperclip/transcript/format-line";
import { readEvent } from "./claude/events.ts";

const formatter = lineFormatter((line) => readEvent(line)?.entries);

/** A line of a run's log, or of the CLI's own output, for a terminal; empty when there is nothing to show. */
export const formatLine: (line: string, options: { readonly color: boolean }) => string = formatter.formatLine;

/** The name under which the host's command line looks for a formatter. */
export const formatStdoutEvent: (line: string, debug: boolean) => void = formatter.printLine;
