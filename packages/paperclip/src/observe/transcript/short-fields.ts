import type { Fields } from "../../agent-cli/json-fields.ts";
import { clean } from "./clean.ts";

const FIELDS_BYTES = 2 * 1024;
const STRING_LENGTH = 300;
const ITEMS = 10;
const DEPTH = 4;

/** Fields as JSON, shortened to a readable length; empty when there are none. */
export function shortFields(fields: Fields): string {
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
  const whole = clean(text);
  if (whole.length <= STRING_LENGTH) return whole;
  return `${whole.slice(0, STRING_LENGTH).toWellFormed()}… (${whole.length - STRING_LENGTH} more characters)`;
}
