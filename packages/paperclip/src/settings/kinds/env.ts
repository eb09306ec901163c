import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";
import { kindOf } from "../quote.ts";

/** Environment: an object of texts. No value is ever repeated, and of a wrong name only what cannot be a secret. */
export function env(spec: Spec): Field<Readonly<Record<string, string>>> {
  return field<Readonly<Record<string, string>>>(spec, {
    kind: "env",
    unset: {},
    form: { type: "textarea" },
    parse(value, key) {
      if (typeof value !== "object" || value === null || Array.isArray(value))
        throw new ConfigError(key, "must be an object of names and texts");
      const entries = Object.entries(value);
      for (const [index, [name, item]] of entries.entries()) check(name, item, key, index + 1);
      return Object.fromEntries(entries);
    },
  });
}

function check(name: string, item: unknown, key: string, place: number): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    // People paste NAME=secret, or the secret alone, into the name's field.
    const start = /^[A-Z_]*/.exec(name)?.[0] ?? "";
    throw new ConfigError(key, `name ${place} ("${start}…") is not a valid environment variable name`);
  }
  if (typeof item !== "string") throw new ConfigError(`${key}.${name}`, `must be text, not ${kindOf(item)}`);
  if (item.includes("\0")) throw new ConfigError(`${key}.${name}`, "holds a NUL character, which no environment variable can");
}
