import { ConfigError, kindOf, quote } from "../config-error.ts";
import { field, type Ignored, ignored, type Reading, type Spec, type Unnamed, used } from "../field.ts";

// Kinds of fields that hold one value.

interface TextSpec<T extends string | null> extends Spec {
  readonly default?: T;
  /** Returns the value as it will be used; throws a ConfigError. */
  readonly check?: (value: string, key: string) => string | Ignored;
}

export function text(spec: TextSpec<null>): Unnamed<string | null>;
export function text(spec: TextSpec<string> & { readonly default: string }): Unnamed<string>;
export function text(spec: TextSpec<string | null>): Unnamed<string | null> {
  const { default: unset = null, check = (value: string) => value } = spec;
  return field<string | null>(spec, {
    kind: "text",
    unset,
    form: { type: "text", ...(unset !== null && { default: unset }) },
    parse(value, key) {
      if (typeof value !== "string") return ignored(`must be text, not ${kindOf(value)}`);
      const found = check(plainText(value, key), key);
      return typeof found === "string" ? used(found) : found;
    },
  });
}

/** Trimmed text; the message repeats nothing of it, since it may be a secret. */
function plainText(value: string, key: string): string {
  if (value.includes("\0")) throw new ConfigError(key, "holds a NUL character");
  return value.trim();
}

interface ChoiceSpec<T extends string> extends Spec {
  /** Values and their labels in the form; the first one is the default. */
  readonly options: Readonly<Record<T, string>>;
  /** Whether another word is left out: earlier adapters had words of their own here. Without it another word is refused. */
  readonly ignoresOthers?: boolean;
  /** Whether it is a promise about safety: whatever it does not know is refused, also what is no text. */
  readonly isPromise?: boolean;
}

/** One of a few words. */
export function choice<const T extends string>(spec: ChoiceSpec<T>): Unnamed<T> {
  const allowed = Object.keys(spec.options) as [T, ...T[]];
  const [unset] = allowed;
  return field<T>(spec, {
    kind: spec.isPromise ? "promise" : "choice",
    unset,
    form: { type: "select", default: unset, options: allowed.map((value) => ({ value, label: spec.options[value] })) },
    parse(value, key) {
      const word = typeof value === "string" ? plainText(value, key) : null;
      const found = allowed.find((candidate) => candidate === word);
      if (found !== undefined) return used(found);
      const why = `must be one of ${allowed.join(", ")}, not ${quote(word ?? value)}`;
      if (!spec.isPromise && (word === null || spec.ignoresOthers)) return ignored(why);
      throw new ConfigError(key, why);
    },
  });
}

interface NumberSpec extends Spec {
  readonly default: number;
  readonly max: number;
  /** What a new agent's form starts with, where that differs from what an unset field means. */
  readonly formDefault?: number;
}

/** Seconds, counts, bytes: a whole number or its digits; 0 is "unset". A limit that cannot be kept exactly is kept as well as it can be. */
export function wholeNumber(spec: NumberSpec): Unnamed<number> {
  return field<number>(spec, {
    kind: "number",
    unset: spec.default,
    form: { type: "number", default: spec.formDefault ?? spec.default },
    parse(value): Reading<number> {
      const number = typeof value === "string" && /^\s*-?[0-9]+(\.[0-9]+)?\s*$/.test(value) ? Number(value) : value;
      if (typeof number !== "number" || !Number.isFinite(number) || number < 0)
        return ignored(`must be a whole number from 0 to ${spec.max}, not ${quote(value)}`);
      if (number === 0) return "unset";
      if (number > spec.max) return used(spec.max, `${quote(value)} is more than the most there is: ${spec.max} is used`);
      const whole = Math.ceil(number);
      return used(whole, whole === number ? null : `${quote(value)} is not a whole number: ${whole} is used`);
    },
  });
}

/** On or off. Its default is shown in the form, so a false that arrives was chosen. */
export function toggle(spec: Spec & { readonly default: boolean }): Unnamed<boolean> {
  return field<boolean>(spec, {
    kind: "toggle",
    unset: spec.default,
    form: { type: "toggle", default: spec.default },
    parse(value) {
      const word = typeof value === "string" ? value.trim().toLowerCase() : value;
      if (word === true || word === "true" || word === 1) return used(true);
      if (word === false || word === "false" || word === 0) return used(false);
      return ignored(`must be true or false, not ${quote(value)}`);
    },
  });
}

const EXAMPLES = { cores: "cores such as 2 or 500m (half a core)", bytes: "bytes such as 512Mi or 2Gi, without a space" } as const;
const SUFFIXES = ["", "k", "M", "G", "T", "P", "E"];
const SMALL = { n: 1e-9, u: 1e-6, m: 1e-3 } as const;
/** As Kubernetes reads it: 1e3 is a number with an exponent, 1E an exabyte. */
const PATTERN = /^\+?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]{1,2})?$/;
/** What of it a number of cores may end in. */
const OF_CORES = /[0-9.num]$/;

/** A Kubernetes quantity such as 500m or 2Gi; JSON numbers are accepted, too. One that cannot be read is left out: the earlier adapters did not read what their form saved. */
export function quantity(spec: Spec & { readonly default: string; readonly unit: "cores" | "bytes" }): Unnamed<string> {
  return field<string>(spec, {
    kind: "text",
    unset: spec.default,
    form: { type: "text", default: spec.default },
    parse(value) {
      const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
      const isAmount = PATTERN.test(text) && (spec.unit === "bytes" || OF_CORES.test(text));
      if (!isAmount) return ignored(`must be ${EXAMPLES[spec.unit]}, not ${quote(value)}`);
      const amount = amountOf(text);
      if (amount === 0) return "unset";
      // "8" meant as 8Gi, or "512m" (half a byte) meant as 512Mi, would be accepted and kill the pod at once.
      if (spec.unit === "bytes" && amount < 2 ** 20) return ignored(`${quote(value)} is less than 1Mi; did you mean Mi or Gi?`);
      return used(text);
    },
  });
}

/** A quantity as a number of cores or bytes. */
export function amountOf(quantity: string): number {
  const [, number, suffix = ""] = PATTERN.exec(quantity) ?? [];
  if (/^[eE][+-]?[0-9]/.test(suffix)) return Number(`${number}${suffix}`);
  if (Object.hasOwn(SMALL, suffix)) return Number(number) * SMALL[suffix as keyof typeof SMALL];
  const power = SUFFIXES.indexOf(suffix.charAt(0) === "K" ? "k" : suffix.charAt(0));
  return Number(number) * (suffix.endsWith("i") ? 1024 : 1000) ** power;
}
