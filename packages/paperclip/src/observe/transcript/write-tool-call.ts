import type { ToolCallEntry } from "../../agent-cli/entry.ts";
import { cleanText, word } from "../clean-text.ts";
import { fold } from "./fold.ts";
import { shorten, shortLine } from "./shorten.ts";

const TITLE = { first: 4, last: 1, chars: 300 };
const INPUT_CHARS = 300;
/** Short enough for a number behind it within what `callName` looks at, so that another number is another name. */
const TOOL_CHARS = 48;

/** A call in one line, without its mark: `bash  npm test`. A second one of the same line has a number: `bash (2)  npm test`. */
export function writeToolCall({ tool, title, input }: ToolCallEntry): (number: number) => string {
  const name = word(tool, "tool", TOOL_CHARS);
  const text = fold(shorten(cleanText(title).trim(), TITLE) || shortLine(inputText(input), INPUT_CHARS));
  return (number) => `${name}${number === 1 ? "" : ` (${number})`}${text === "" ? "" : `  ${text}`}`;
}

/** The input of a call that no word of it stands for. */
function inputText(input: unknown): string {
  try {
    const text = JSON.stringify(input) ?? "";
    return text === "{}" || text === "null" ? "" : cleanText(text).trim();
  } catch {
    // Deeper than the stack.
    return "";
  }
}
