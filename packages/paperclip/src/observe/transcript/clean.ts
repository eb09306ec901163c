import { stripVTControlCharacters } from "node:util";

/**
 * Text as a page can show and a database can keep it: no terminal codes, no control characters but tab and newline (the host's database
 * refuses NUL), no half characters, lines ended by a newline alone.
 */
export function clean(text: string): string {
  // Most texts are clean already.
  if (/^[\n\t\x20-\x7E]*$/.test(text)) return text;
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, "\n")
    .replace(/(?![\n\t])\p{Cc}/gu, "")
    .toWellFormed();
}

/** A text as one word of a transcript line: no space, never empty. */
export const word = (text: string, ifEmpty: string): string =>
  clean(text).trim().replace(/\s+/g, "_").slice(0, 100).toWellFormed() || ifEmpty;

/** A short text in one line. */
export const phrase = (text: string): string => clean(text).replace(/\s+/g, " ").trim().slice(0, 200).toWellFormed();
