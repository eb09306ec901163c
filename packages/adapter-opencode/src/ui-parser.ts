import { parseEventLine } from "@paperclip-k8s/paperclip/transcript/event-line";
import { parseLine } from "@paperclip-k8s/paperclip/transcript/parse-line";
import { readEntries } from "./opencode/events.ts";

/** The name under which the host's page looks for a parser; the log holds transcript lines or, if the agent's settings say so, OpenCode's own. */
export function parseStdoutLine(line: string, ts: string): { kind: string; ts: string }[] {
  return parseEventLine(readEntries, line.trim(), ts) ?? parseLine(line, ts);
}
