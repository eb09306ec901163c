import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";
import { quote } from "../quote.ts";

export interface NumberSpec extends Spec {
  readonly default: number;
  readonly max: number;
  /** What a new agent's form starts with, where that differs from what an unset field means. */
  readonly formDefault?: number;
}

/** Seconds, counts, bytes: a whole number or its digits; 0 is "unset". */
export function wholeNumber(spec: NumberSpec): Field<number> {
  return field<number>(spec, {
    kind: "number",
    unset: spec.default,
    form: { type: "number", default: spec.formDefault ?? spec.default },
    parse(value, key) {
      const number = typeof value === "string" && /^\s*[0-9]+\s*$/.test(value) ? Number(value) : value;
      if (typeof number !== "number" || !Number.isInteger(number) || number < 0 || number > spec.max)
        throw new ConfigError(key, `must be a whole number from 0 to ${spec.max}, not ${quote(value)}`);
      return number === 0 ? undefined : number;
    },
  });
}
