// For tests of the transcript: what a CLI's texts become, and what the host makes of the lines.
import fc from "fast-check";
import type { Entry } from "../../../agent-cli/entry.ts";
import { mark } from "../marks.ts";
import { parseLine, type TranscriptEntry } from "../parse-line.ts";
import { TranscriptLines } from "../to-lines.ts";

export const toLines = (...entries: Entry[]): string[] => new TranscriptLines().push(entries);

const traps = [
  "⏎",
  "\\⏎",
  " ⏎ ",
  "\\",
  "\n",
  "\r\n",
  "\n\n",
  "\t",
  "  ",
  "  {",
  '  {"a":1}',
  "‹",
  "›",
  "‹x› ",
  " · ",
  "🧵",
  "e\u0301",
  "\u2028",
];
export const printable = fc
  .array(fc.oneof(fc.string({ unit: "grapheme", maxLength: 12 }), fc.constantFrom(...traps, "[paperclip]", ...Object.values(mark))), {
    maxLength: 30,
  })
  .map((pieces) => pieces.join(""));
export const anything = fc
  .array(
    fc.oneof(
      printable,
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom("\u0000", "\u001b[31mred\u001b[0m", "\ud800", "\udc00"),
    ),
  )
  .map((pieces) => pieces.join(""));

/** What the host does with stdout: join, cut at newlines, trim, drop blank lines, parse each, join deltas of one kind. */
export function asHost(lines: readonly string[]): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  for (const line of lines
    .map((each) => `${each}\n`)
    .join("")
    .split(/\r?\n/)) {
    if (line.trim() === "") continue;
    for (const entry of parseLine(line.trim(), "t")) {
      const last = entries.at(-1);
      if (last && "delta" in last && "delta" in entry && last.kind === entry.kind) last.text += entry.text;
      else entries.push(entry);
    }
  }
  return entries;
}

export const newlines = (text: string) => text.replace(/\r\n?|[\u2028\u2029]/g, "\n");

/** What is shown of a text that is short: its lines that are not blank. */
export const shown = (text: string) =>
  newlines(text)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
export const isShort = (text: string) => shown(text).length <= 5 && shown(text).every((line) => line.length <= 200);
