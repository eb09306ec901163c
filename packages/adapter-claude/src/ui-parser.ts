import { parseLine } from "@paperclip-k8s/paperclip/transcript/parse-line";

/** The name under which the host's page looks for a parser; the log holds transcript lines, whichever CLI wrote them. */
export function parseStdoutLine(line: string, ts: string): { kind: string; ts: string }[] {
  return parseLine(line, ts);
}
