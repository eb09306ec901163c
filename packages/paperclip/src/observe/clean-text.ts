// Text that a pod, a file on the volume or a Kubernetes object brought: an agent may have written it. Nothing of it reaches a log, a result or
// a terminal but through here. Every pattern takes time in proportion to the text: none can begin again inside what it has just scanned.

/** What most texts do not have, so that they are left as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNUSUAL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;
/** Strings for the terminal (titles, links, the clipboard): ESC and a letter, or one C1 character, up to their end in the same line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_STRINGS = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)/g;
/** Colours, cursor and other commands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_CODES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/g;
/** A return alone would let a line be written over. */
const LINE_ENDS = /\r\n?|[\u2028\u2029]/g;
/** Control characters but newline and tab (the host's database refuses NUL), and those that change the direction of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const INVISIBLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** Text as a page or a terminal can show and a database can keep it: no terminal codes, no control characters but tab and newline, no half characters. */
export function cleanText(text: string): string {
  if (!UNUSUAL.test(text)) return text.isWellFormed() ? text : text.toWellFormed();
  return withoutTerminalCodes(text).replace(LINE_ENDS, "\n").replace(INVISIBLE, "").toWellFormed();
}

/** Text that programs compare; what people see goes through `cleanText`. */
export const withoutTerminalCodes = (text: string): string => text.replace(TERMINAL_STRINGS, "").replace(TERMINAL_CODES, "");

const LINE_CHARS = 4000;

/** The same as one line of a length that people read. */
export function cleanLine(text: string, most = LINE_CHARS): string {
  // Nothing behind this can be shown, so it need not be looked at.
  const line = joinLines(cleanText(text.slice(0, 4 * most)));
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}…`;
}

/** Lines and the blanks around them become single blanks. */
export function joinLines(text: string): string {
  if (!/[\n\t]/.test(text)) return text.trim();
  const lines = text.replaceAll("\t", " ").split("\n");
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

const DEPTH = 10;
const ITEMS = 500;
const TEXT_CHARS = 16_000;

/** Every text in a value, keys included, as the host can store it; what is longer, wider or deeper than reason is cut. */
export function cleanValue<T>(value: T, depth = DEPTH): T {
  if (typeof value === "string") return cleanPart(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return null as T;
  if (Array.isArray(value)) return value.slice(0, ITEMS).map((item: unknown) => cleanValue(item, depth - 1)) as T;
  const entries = Object.entries(value).slice(0, ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [cleanPart(key), cleanValue<unknown>(item, depth - 1)])) as T;
}

const cleanPart = (text: string): string => (text.length <= TEXT_CHARS ? cleanText(text) : `${cleanText(text.slice(0, TEXT_CHARS))}…`);

/** A text as one word of a transcript line: no space, never empty, no longer than `most`. */
export const word = (text: string, ifEmpty: string, most: number): string =>
  cleanText(text).trim().replace(/\s+/g, "_").slice(0, most).toWellFormed() || ifEmpty;

/** A short text in one line. */
export const phrase = (text: string): string => cleanText(text).replace(/\s+/g, " ").trim().slice(0, 200).toWellFormed();
