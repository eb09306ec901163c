import { groupDigits } from "./fold.ts";

/** How much of a text is shown: its first lines, its last ones, and so much of each. */
export interface Limits {
  readonly first: number;
  readonly last: number;
  readonly chars: number;
}

/** A text without its blank lines, and of a long one the beginning and the end, because a build reports its error last. */
export function shorten(text: string, { first, last, chars }: Limits): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const more = lines.length - first - last;
  // A note about one line would take as much room as the line.
  const shown = more <= 1 ? lines : [...lines.slice(0, first), `… ${groupDigits(more)} more lines`, ...lines.slice(lines.length - last)];
  return shown.map((line) => shortLine(line, chars)).join("\n");
}

/** The beginning of a line, and how much is missing. */
export function shortLine(line: string, chars: number): string {
  const end = line.trimEnd();
  if (end.length <= chars) return end;
  return `${end.slice(0, chars).toWellFormed().trimEnd()}… ${groupDigits(end.length - chars)} more characters`;
}
