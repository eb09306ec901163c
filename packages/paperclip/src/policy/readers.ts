import { isRecord } from "../host/context-values.ts";
import { ConfigError, kindOf, quote } from "../settings/config-error.ts";
import type { Field } from "../settings/field.ts";
import { amountOf } from "../settings/kinds/scalar.ts";
import { absolutePath } from "../settings/kinds/text-checks.ts";
import { readStrictly } from "../settings/read.ts";
import { similar } from "../settings/similar.ts";

// What the values of a policy file may look like. Each reader notes what is wrong and goes on, so that one look shows all problems.

/** `base` is what counts where the file says nothing. */
export type Reader<T> = (value: unknown, at: string, base: T, problems: string[]) => T;

/** An object of which every key is known. */
export function section<T extends object>(shape: { readonly [Key in keyof T]: Reader<T[Key]> }): Reader<T> {
  const known = Object.keys(shape);
  return (value, at, base, problems) => {
    if (value === undefined || value === null) return base;
    if (!isRecord(value)) return wrong(base, problems, at, `must be an object, not ${kindOf(value)}`);
    for (const key of Object.keys(value)) {
      const [near] = similar(key, known, (name) => [name]);
      const hint = near === undefined ? `there are ${known.join(", ")}` : `did you mean ${near}?`;
      if (!known.includes(key)) problems.push(`${at === "" ? key : `${at}.${key}`}: there is no such key; ${hint}`);
    }
    const read = ([key, reader]: [string, Reader<unknown>]) => {
      const inner = base[key as keyof T];
      return [key, Object.hasOwn(value, key) ? reader(value[key], at === "" ? key : `${at}.${key}`, inner, problems) : inner];
    };
    return Object.fromEntries(Object.entries(shape as Record<string, Reader<unknown>>).map(read)) as T;
  };
}

/** This item of a list stands for all items that the list has without a file. */
const DEFAULTS = "defaults";

export const texts: Reader<readonly string[]> = (value, at, base, problems) => {
  if (!Array.isArray(value)) return wrong(base, problems, at, `must be a list of texts, not ${kindOf(value)}`);
  return value.flatMap((item: unknown, index) => {
    if (item === DEFAULTS) return base;
    if (typeof item === "string" && item !== "" && item !== "!") return [item];
    return wrong([], problems, `${at}[${index}]`, "must be a text");
  });
};

export const paths: Reader<readonly string[]> = (value, at, base, problems) => {
  const found = texts(value, at, base, problems);
  found.forEach((path, index) => {
    attempt(`${at}[${index}]`, problems, (place) => absolutePath(path.replace(/^!/, ""), place));
  });
  return found;
};

export const flag: Reader<boolean> = (value, at, base, problems) =>
  typeof value === "boolean" ? value : wrong(base, problems, at, `must be true or false, not ${quote(value)}`);

export const maybeFlag: Reader<boolean | null> = (value, at, base, problems) =>
  value === null ? null : flag(value, at, base ?? false, problems);

/** Reads a value in the same way as the agent's setting of the same meaning. */
export function like<T>(field: Field<T>): Reader<T> {
  return (value, at, base, problems) =>
    value === null ? field.unset : (attempt(at, problems, (place) => readStrictly(field, value, place)) ?? base);
}

export function text(check: (value: string, at: string) => string): Reader<string | null> {
  return (value, at, base, problems) => {
    if (value === null) return null;
    if (typeof value !== "string") return wrong(base, problems, at, `must be a text, not ${kindOf(value)}`);
    return attempt(at, problems, (place) => check(value, place)) ?? base;
  };
}

export const seconds: Reader<number> = (value, at, base, problems) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0
    ? value
    : wrong(base, problems, at, `must be a whole number of seconds above 0, not ${quote(value)}`);

/** A number, or a quantity such as 1Gi. */
export const bytes: Reader<number> = (value, at, base, problems) => {
  const amount = typeof value === "string" && /^[0-9.]+([kMGTPE]i?)?$/.test(value) ? amountOf(value) : value;
  if (typeof amount === "number" && Number.isSafeInteger(amount) && amount >= 1024) return amount;
  return wrong(base, problems, at, `must be a number of bytes, or a quantity such as 1Gi, not ${quote(value)}`);
};

export function wrong<T>(base: T, problems: string[], at: string, why: string): T {
  problems.push(`${at === "" ? "the file" : at}: ${why}`);
  return base;
}

/** Runs one of the checks that agents' settings have; its error already names the place. */
export function attempt<T>(at: string, problems: string[], check: (at: string) => T): T | null {
  try {
    return check(at);
  } catch (error) {
    problems.push(error instanceof ConfigError ? error.message : `${at}: is not usable`);
    return null;
  }
}
