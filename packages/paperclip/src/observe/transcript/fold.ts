// A newline is ` ⏎ `; a ⏎ of the text itself gets a backslash. So each ⏎ has either a space or a backslash of ours before it.
const newline = " ⏎ ";

/** A text of several lines as one line. */
export const fold = (text: string): string => text.replaceAll("⏎", "\\⏎").replaceAll("\n", newline);

/** The text that was folded; a newline at its end may have lost its space to the host's trimming. */
export const unfold = (line: string): string => line.replace(/ ⏎(?: |$)|\\⏎/g, (found) => (found.startsWith(" ") ? "\n" : "⏎"));

/** Bytes of UTF-8 that a character takes in a folded line. */
export function foldedSize(character: string): number {
  if (character === "\n") return 5;
  if (character === "⏎") return 4;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}
