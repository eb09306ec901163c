import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";
import { kindOf } from "../quote.ts";

export interface TextSpec<T extends string | null> extends Spec {
  readonly default?: T;
  /** Returns the value as it will be used; throws a ConfigError. */
  readonly check?: (value: string, key: string) => string;
  readonly multiline?: boolean;
}

export function text(spec: TextSpec<null>): Field<string | null>;
export function text(spec: TextSpec<string> & { readonly default: string }): Field<string>;
export function text(spec: TextSpec<string | null>): Field<string | null> {
  const { default: unset = null, check = (value: string) => value } = spec;
  return field<string | null>(spec, {
    kind: "text",
    unset,
    form: { type: spec.multiline ? "textarea" : "text", ...(unset !== null && { default: unset }) },
    parse: (value, key) => check(plainText(value, key), key),
  });
}

/** Trimmed text; what it was instead is named by its kind only, since it may be a secret. */
export function plainText(value: unknown, key: string): string {
  if (typeof value !== "string") throw new ConfigError(key, `must be text, not ${kindOf(value)}`);
  if (value.includes("\0")) throw new ConfigError(key, "holds a NUL character");
  return value.trim();
}
