import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";
import { quote } from "../quote.ts";

const FACTORS: Readonly<Record<string, number>> = {
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const PATTERN = /^([0-9]+(?:\.[0-9]+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;

/** A Kubernetes quantity such as 500m or 2Gi; JSON numbers are taken, too. */
export function quantity(spec: Spec & { readonly default: string; readonly unit: "cores" | "bytes" }): Field<string> {
  return field<string>(spec, {
    kind: "text",
    unset: spec.default,
    form: { type: "text", default: spec.default },
    parse(value, key) {
      const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
      if (!PATTERN.test(text)) throw new ConfigError(key, `must be a Kubernetes quantity such as 500m or 2Gi, not ${quote(value)}`);
      const amount = amountOf(text);
      if (amount === 0) return undefined;
      if (spec.unit === "cores" && !/^[0-9.]+m?$/.test(text))
        throw new ConfigError(key, `must be cores such as 500m or 2, not ${quote(value)}`);
      // "8" meant as 8Gi, or "512m" (half a byte) meant as 512Mi, would be accepted and kill the pod at once.
      if (spec.unit === "bytes" && amount < 2 ** 20) throw new ConfigError(key, `${quote(value)} is less than 1Mi; did you mean Mi or Gi?`);
      return text;
    },
  });
}

export function amountOf(quantity: string): number {
  const [, number, suffix = ""] = PATTERN.exec(quantity) ?? [];
  return Number(number) * (FACTORS[suffix] ?? Number.NaN);
}
