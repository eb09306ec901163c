import { ConfigError } from "./config-error.ts";
import { type Field, isUnset, type Raw } from "./field.ts";
import { type Note, noted } from "./note.ts";

/** Where values are looked for, in this order: the agent's settings, then what the operator's policy has for agents without one. */
export type Sources = readonly [own: Raw, defaults?: Raw];

interface Found<T> {
  readonly value: T | undefined;
  /** Where the agent has it from, as it was written; null = the agent has none. */
  readonly given: { readonly key: string; readonly value: unknown } | null;
  readonly notes: readonly Note[];
}

/** A field's value where one is set, and what was found beside it that is not used. */
export function look<T>(field: Field<T>, [own, defaults]: Sources): Found<T> {
  const unused: { readonly key: string; readonly why: string }[] = [];
  for (const [key, value] of valuesOf(field, own)) {
    const reading = field.parse(value, key);
    if (reading === "unset") continue;
    if ("ignored" in reading) {
      unused.push({ key, why: reading.ignored });
      continue;
    }
    const notes = unused.map(({ key, why }) => noted({ ...field, key }, `is ignored: ${why}`));
    if (reading.note !== null) notes.push(noted({ ...field, key }, reading.note));
    return { value: reading.value, given: { key, value }, notes };
  }
  const value = defaults === undefined ? undefined : find(field, [defaults]);
  const effect = value === undefined ? usualOf(field) : ` (default: ${asText(value)}, by the operator's policy)`;
  const notes = unused.map(({ key, why }) => noted({ ...field, key }, `is ignored: ${why}; it counts as not set${effect}`));
  return { value, given: null, notes };
}

/** A field's value where one is set. */
export function find<T>(field: Field<T>, sources: Sources): T | undefined {
  return look(field, sources).value;
}

/** A value in the operator's own file: what an agent's run would only warn of is refused. */
export function readStrictly<T>(field: Field<T>, value: unknown, key: string): T | undefined {
  const reading = field.parse(value, key);
  if (reading === "unset") return undefined;
  const problem = "ignored" in reading ? reading.ignored : reading.note;
  if (problem !== null) throw new ConfigError(key, problem);
  return "value" in reading ? reading.value : undefined;
}

function* valuesOf(field: Field<unknown>, raw: Raw): Generator<readonly [key: string, value: unknown]> {
  // The form sends dotted keys as they are; people write nested objects. The dotted one wins: the form edits it.
  for (const key of [field.key, ...field.aliases])
    for (const value of key.includes(".") ? [own(raw, key), nested(raw, key)] : [own(raw, key)])
      if (!isUnset(value, field.kind)) yield [key, value];
}

export function nested(raw: Raw, key: string): unknown {
  let value: unknown = raw;
  for (const part of key.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = own(value as Raw, part);
  }
  return value;
}

function own(raw: Raw, key: string): unknown {
  return Object.hasOwn(raw, key) ? raw[key] : undefined;
}

/** A value as messages and the form's hints show it. */
export const asText = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** The default as a part of a sentence. */
function usualOf({ defaultText, unset }: Field<unknown>): string {
  const text = defaultText ?? (typeof unset === "object" ? "" : String(unset));
  return text === "" ? "" : ` (default: ${text.replaceAll("`", "")})`;
}
