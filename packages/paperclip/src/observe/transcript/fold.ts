// A newline is ` ⏎ `; a ⏎ of the text itself gets a backslash. So each ⏎ has either a space or a backslash of ours before it.
const newline = " ⏎ ";

/** A text of several lines as one line. */
export const fold = (text: string): string => text.replaceAll("⏎", "\\⏎").replaceAll("\n", newline);

/** The text that was folded; a newline at its end may have lost its space to the host's trimming. */
export const unfold = (line: string): string => line.replace(/ ⏎(?: |$)|\\⏎/g, (found) => (found.startsWith(" ") ? "\n" : "⏎"));

/** Bytes of UTF-8 that a character takes in a folded line. */
function foldedSize(character: string): number {
  if (character === "\n") return 5;
  if (character === "⏎") return 4;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/**
 * Text whose folded form takes about `limit` bytes: the beginning and the end, because a build reports its error last, and between them a
 * note of what is missing.
 */
export function cut(text: string, limit: number): string {
  // No unit of a string takes more than five bytes when folded.
  if (text.length * 5 <= limit) return text;
  if (headEnd(text, limit) === text.length) return text;
  const from = headEnd(text, Math.floor((limit * 5) / 8));
  const to = tailStart(text, Math.floor((limit * 3) / 8));
  const missing = Buffer.byteLength(text.slice(from, to));
  return `${text.slice(0, from).trimEnd()}\n[… ${groupDigits(missing)} bytes left out …]\n${text.slice(to)}`;
}

function headEnd(text: string, limit: number): number {
  let size = 0;
  let at = 0;
  for (const character of text) {
    size += foldedSize(character);
    if (size > limit) return at;
    at += character.length;
  }
  return at;
}

function tailStart(text: string, limit: number): number {
  let size = 0;
  let at = text.length;
  while (at > 0) {
    const half = text.charCodeAt(at - 1);
    const step = half >= 0xdc00 && half <= 0xdfff ? 2 : 1;
    size += foldedSize(text.slice(at - step, at));
    if (size > limit) return at;
    at -= step;
  }
  return at;
}

/** 12345 as `12,345`; lighter than a formatter of `Intl`, and the same in every browser. */
export const groupDigits = (count: number): string => String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ",");
