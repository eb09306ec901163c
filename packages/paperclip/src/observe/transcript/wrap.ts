import { clean } from "./clean.ts";

// Scripts whose characters take two columns in a terminal, and pictographs.
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u;
const ZERO = /\p{Mark}|\u200D/u;

// Made at the first need: it takes longer than everything else here.
let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Columns a text takes in a terminal. */
export function columns(text: string): number {
  if (/^[\x20-\x7E]*$/.test(text)) return text.length;
  return graphemes(text).reduce((sum, grapheme) => sum + (WIDE.test(grapheme) ? 2 : ZERO.test(grapheme[0]!) ? 0 : 1), 0);
}

/** Text of others must not steer the terminal. */
export const harmless = (text: string): string => clean(text).replace(/\t/g, "    ");

/** The text in one line of at most so many columns. */
export function shorten(text: string, width: number): string {
  if (columns(text) <= width) return text;
  let short = "";
  let used = 1;
  for (const grapheme of graphemes(text)) {
    used += columns(grapheme);
    if (used > width) break;
    short += grapheme;
  }
  return `${short}…`;
}

// A word longer than a line is broken where the line ends.
function breakWord(word: string, width: number): string[] {
  const parts = [""];
  for (const grapheme of graphemes(word)) {
    if (columns(parts.at(-1)! + grapheme) > width) parts.push("");
    parts[parts.length - 1] += grapheme;
  }
  return parts;
}

function wrapLine(line: string, width: number): string[] {
  if (columns(line) <= width) return [line];
  const indent = /^\s*(?:[-*•] |\d+\. )?/.exec(line)![0];
  const hang = " ".repeat(Math.min(indent.length, width >> 1));
  const lines: string[] = [];
  let current = indent.trimEnd() === "" ? hang.slice(1) : indent.trimEnd();
  let empty = indent === "";
  for (const word of line
    .slice(indent.length)
    .split(/ +/)
    .flatMap((text) => breakWord(text, width - hang.length))) {
    const longer = empty ? word : `${current} ${word}`;
    if (empty || columns(longer) <= width) current = longer;
    else {
      lines.push(current);
      current = hang + word;
    }
    empty = false;
  }
  return [...lines, current];
}

/** Breaks a text at spaces; its own line breaks and list indents stay. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line.trimEnd(), width));
}
