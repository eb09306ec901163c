import { type Field, isUnset, type Raw } from "./field.ts";

/** A field's value, or its default. */
export function read<T>(field: Field<T>, raw: Raw): T {
  return find(field, raw) ?? field.unset;
}

/** A field's value where one is set. */
export function find<T>(field: Field<T>, raw: Raw): T | undefined {
  for (const key of [field.key, ...field.aliases]) {
    for (const value of [own(raw, key), nested(raw, key)]) {
      const parsed = isUnset(value, field.kind) ? undefined : field.parse(value, key);
      if (parsed !== undefined) return parsed;
    }
  }
  return undefined;
}

/** The form sends dotted keys as they are; people write nested objects. The dotted one wins: the form edits it. */
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
