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
  if (Array.isArray(value))
    return shortList(
      value,
      (item) => shortValue(item, depth - 1),
      (missing) => `… ${missing} more`,
    );
  const pairs = Object.entries(value);
  return Object.fromEntries(
    shortList(
      pairs,
      ([key, item]) => [shortText(key), shortValue(item, depth - 1)],
      (missing) => ["…", `${missing} more`],
    ),
  );
}

function shortList<T, U>(items: readonly T[], shorten: (item: T) => U, note: (missing: number) => U): U[] {
  const kept = items.slice(0, ITEMS).map(shorten);
  return items.length > ITEMS ? [...kept, note(items.length - ITEMS)] : kept;
}

function shortText(text: string): string {
  const whole = clean(text);
  if (whole.length <= STRING_LENGTH) return whole;
  return `${whole.slice(0, STRING_LENGTH).toWellFormed()}… (${whole.length - STRING_LENGTH} more characters)`;
}
