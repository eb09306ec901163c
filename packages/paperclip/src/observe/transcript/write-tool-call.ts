import type { ToolCallEntry } from "../../agent-cli/entry.ts";
import type { Fields } from "../../agent-cli/json-fields.ts";
import { isRecord } from "../../host/context-values.ts";
import { cleanText, word } from "../clean-text.ts";
import { cut, fold } from "./fold.ts";
import { readToolCall, USUAL_FIELD } from "./read-tool-call.ts";

const TITLE_BYTES = 4 * 1024;
const FIELDS_BYTES = 2 * 1024;
const STRING_LENGTH = 300;
const ITEMS = 10;
const DEPTH = 4;

/** A call in one line, without its mark; long input is shortened. */
export function writeToolCall({ id, tool, title, input }: ToolCallEntry): string {
  const fields = inputFields(input);
  // A title that repeats no field is shown all the same, under a name of its own.
  const field = Object.keys(fields).find((key) => fields[key] === title) ?? "title";
  const text = cut(cleanText(title).trim(), TITLE_BYTES);
  // Models repeat a value under two names; once is enough for a reader.
  const rest = Object.fromEntries(Object.entries(fields).filter(([key, value]) => key !== field && value !== title));
  const name = field === USUAL_FIELD || text === "" ? "" : ` ${word(field, "title")}`;
  const line = join(word(tool, "tool") + name, fold(text), shortFields(rest), shortId(id));
  // A title that looks like fields or a name would be read back wrongly: then it is written as a field.
  return readToolCall(line)?.title === text ? line : join(word(tool, "tool"), "", shortFields({ [field]: text, ...rest }), shortId(id));
}

const inputFields = (input: unknown): Fields => {
  if (input === null || input === undefined) return {};
  return isRecord(input) ? input : { input };
};

const join = (...parts: readonly [tool: string, title: string, fields: string, id: string]): string =>
  parts.filter((part) => part !== "").join("  ");

/** Enough of an id to tie a result to its call; providers make ids of 30 characters that differ at their ends. */
export function shortId(id: string): string {
  const whole = word(id, "");
  return `#${(whole.length > 12 ? whole.slice(-8) : whole).toWellFormed()}`;
}

/** Fields as JSON, shortened to a readable length; empty when there are none. */
function shortFields(fields: Fields): string {
  const kept: [string, unknown][] = [];
  let room = FIELDS_BYTES;
  const entries = Object.entries(fields);
  for (const [key, value] of entries) {
    const field: [string, unknown] = [shortText(key), shortValue(value, DEPTH)];
    room -= Buffer.byteLength(JSON.stringify(field));
    if (room < 0) break;
    kept.push(field);
  }
  const missing = entries.length - kept.length;
  if (missing > 0) kept.push(["…", `${missing} more`]);
  return kept.length === 0 ? "" : JSON.stringify(Object.fromEntries(kept));
}

function shortValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return shortText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  const entries = Object.entries(value);
  const kept = entries.slice(0, ITEMS).map(([key, item]): [string, unknown] => [shortText(key), shortValue(item, depth - 1)]);
  const missing = entries.length - kept.length;
  if (Array.isArray(value)) return [...kept.map(([, item]) => item), ...(missing > 0 ? [`… ${missing} more`] : [])];
  return Object.fromEntries(missing > 0 ? [...kept, ["…", `${missing} more`]] : kept);
}

function shortText(text: string): string {
  const whole = cleanText(text);
  if (whole.length <= STRING_LENGTH) return whole;
  return `${whole.slice(0, STRING_LENGTH).toWellFormed()}… (${whole.length - STRING_LENGTH} more characters)`;
}
