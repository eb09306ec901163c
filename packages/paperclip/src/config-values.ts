import { ConfigError } from "./config-error.ts";

// Readers of single settings. The host's form sends 0, "" and false for "unset", and text for numbers.

type Raw = Readonly<Record<string, unknown>>;

export function text(raw: Raw, field: string): string | null {
  const value = at(raw, field);
  if (value === undefined || value === null || value === false || value === 0) return null;
  if (typeof value !== "string") throw new ConfigError(field, `must be text, not ${kindOf(value)}`);
  return value.trim() === "" ? null : value.trim();
}

export function requiredText(raw: Raw, field: string, hint: string): string {
  const value = text(raw, field);
  if (value === null) throw new ConfigError(field, `is missing: ${hint}`);
  return value;
}

export function absolutePath(raw: Raw, field: string): string | null {
  const value = text(raw, field);
  if (value === null) return null;
  if (!value.startsWith("/") || value.split("/").includes(".."))
    throw new ConfigError(field, `must be an absolute path without "..", not "${value}"`);
  return value.length > 1 ? value.replace(/\/+$/, "") : value;
}

/** Seconds, counts: a whole number from `min`; unset or 0 gives the default. */
export function wholeNumber(raw: Raw, field: string, options: { readonly default: number; readonly max: number }): number {
  const value = at(raw, field);
  if (value === undefined || value === null || value === "" || value === false) return options.default;
  const number = typeof value === "string" ? Number(value.trim()) : value;
  if (typeof number !== "number" || !Number.isInteger(number) || number < 0 || number > options.max)
    throw new ConfigError(field, `must be a whole number from 0 to ${options.max}, not ${JSON.stringify(value)}`);
  return number === 0 ? options.default : number;
}

export function flag(raw: Raw, field: string, defaultValue: boolean): boolean {
  const value = at(raw, field);
  if (value === undefined || value === null || value === "") return defaultValue;
  if (value === true || value === "true") return true;
  if (value === false || value === "false" || value === 0) return false;
  throw new ConfigError(field, `must be true or false, not ${JSON.stringify(value)}`);
}

export function oneOf<T extends string>(raw: Raw, field: string, allowed: readonly [T, ...T[]]): T {
  const value = text(raw, field);
  if (value === null) return allowed[0];
  if (!(allowed as readonly string[]).includes(value)) throw new ConfigError(field, `must be one of ${allowed.join(", ")}, not "${value}"`);
  return value as T;
}

/** A list of texts, or one text of words. */
export function texts(raw: Raw, field: string): string[] {
  const value = at(raw, field);
  if (value === undefined || value === null || value === "" || value === false) return [];
  if (typeof value === "string") return value.split(/[\s,]+/).filter((word) => word !== "");
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new ConfigError(field, "must be a list of texts");
}

/** Environment: an object of texts, names checked. */
export function environment(raw: Raw, field: string): Record<string, string> {
  const value = at(raw, field);
  if (value === undefined || value === null || value === "") return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new ConfigError(field, "must be an object of names and texts");
  const env: Record<string, string> = {};
  for (const [name, item] of Object.entries(value)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new ConfigError(`${field}.${name}`, "is not a valid environment variable name");
    if (typeof item !== "string") throw new ConfigError(`${field}.${name}`, `must be text, not ${kindOf(item)}`);
    if (item.includes("\0")) throw new ConfigError(`${field}.${name}`, "holds a NUL character, which no environment variable can");
    env[name] = item;
  }
  return env;
}

/** A Kubernetes quantity such as 500m or 2Gi. */
export function quantity(raw: Raw, field: string, defaultValue: string): string {
  const value = text(raw, field) ?? defaultValue;
  if (!/^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.test(value))
    throw new ConfigError(field, `must be a Kubernetes quantity such as 500m or 2Gi, not "${value}"`);
  return value;
}

/** Accepts the form's dotted keys and nested objects alike; the dotted key wins. */
function at(raw: Raw, field: string): unknown {
  if (field in raw) return raw[field];
  let value: unknown = raw;
  for (const part of field.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
