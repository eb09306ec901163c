import { cleanText } from "./clean-text.ts";
import { asForeign } from "./transcript/marks.ts";

/** No JSON text has them, so a line that does is no event of a CLI. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_IN_JSON = /[\x00-\x08\x0b-\x1f]/;
/** What JSON may have in its strings, but steers a terminal or turns the direction of what follows. */
const HARMFUL = /[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A line of a CLI's output for a log of raw lines. An event is written as it is; the few characters that could mislead a reader become JSON
 * escapes, which mean the same. Any other line is written as the transcript writes it, so that none can be taken for one of ours.
 */
export function rawLines(line: string): string[] {
  if (line.startsWith("{") && !NOT_IN_JSON.test(line)) return [line.replace(HARMFUL, escaped)];
  return cleanText(line).split("\n").map(asForeign);
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
