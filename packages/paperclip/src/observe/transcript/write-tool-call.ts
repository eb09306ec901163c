import type { ToolCallEntry } from "../../agent-cli/entry.ts";
import type { Fields } from "../../agent-cli/json-fields.ts";
import { clean, word } from "./clean.ts";
import { cut, fold } from "./fold.ts";
import { readToolCall, USUAL_FIELD } from "./read-tool-call.ts";
import { shortFields } from "./short-fields.ts";

const TITLE_BYTES = 4 * 1024;

/** A call in one line, without its mark; long input is shortened. */
export function writeToolCall({ id, tool, title, input }: ToolCallEntry): string {
  const fields = inputFields(input);
  // A title that repeats no field is shown all the same, under a name of its own.
  const field = Object.keys(fields).find((key) => fields[key] === title) ?? "title";
  const text = cut(clean(title).trim(), TITLE_BYTES);
  // Models repeat a value under two names; once is enough for a reader.
  const rest = Object.fromEntries(Object.entries(fields).filter(([key, value]) => key !== field && value !== title));
  const name = field === USUAL_FIELD || text === "" ? "" : ` ${word(field, "title")}`;
  const line = join(word(tool, "tool") + name, fold(text), shortFields(rest), shortId(id));
  // A title that looks like fields or a name would be read back wrongly: then it is written as a field.
  return readToolCall(line)?.title === text ? line : join(word(tool, "tool"), "", shortFields({ [field]: text, ...rest }), shortId(id));
}

const inputFields = (input: unknown): Fields => {
  if (input === null || input === undefined) return {};
  return typeof input === "object" && !Array.isArray(input) ? (input as Fields) : { input };
};

const join = (...parts: readonly [tool: string, title: string, fields: string, id: string]): string =>
  parts.filter((part) => part !== "").join("  ");

/** Enough of an id to tie a result to its call; providers make ids of 30 characters that differ at their ends. */
export function shortId(id: string): string {
  const whole = word(id, "");
  return `#${(whole.length > 12 ? whole.slice(-8) : whole).toWellFormed()}`;
}
