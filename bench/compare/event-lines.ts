import type { CliParser } from "@paperclip-k8s/paperclip";

/** A recorded turn, taken apart at the line in which the model says something. */
export interface EventLines {
  readonly first: readonly string[];
  readonly text: string;
  /** What it says there. */
  readonly said: string;
  readonly last: readonly string[];
}

/** `parser`: of the CLI that the lines were recorded from. */
export function eventLinesOf(lines: readonly string[], parser: Pick<CliParser, "push">): EventLines {
  for (const [place, text] of lines.entries()) {
    const entry = parser.push(text).find(({ kind }) => kind === "assistant");
    if (entry === undefined || !("text" in entry)) continue;
    return { first: lines.slice(0, place), text, said: entry.text, last: lines.slice(place + 1) };
  }
  throw new Error("in no line of the recording does the model say anything");
}
