import { formatEventLine, printEventLine } from "@paperclip-k8s/paperclip/transcript/format-line";
import { readEntries } from "./opencode/events.ts";

/** A line of a run's log for a terminal. */
export const formatLine = (line: string, options: { readonly color: boolean }): string => formatEventLine(readEntries, line, options);

/** The name under which the host's command line looks for a formatter. */
export const formatStdoutEvent = (line: string): void => printEventLine(readEntries, line);
