import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";
import { quote } from "../quote.ts";
import { plainText } from "./text.ts";

export interface ChoiceSpec<T extends string> extends Spec {
  /** Value and its label in the form; the first one is the default. */
  readonly options: readonly [readonly [T, string], ...(readonly [T, string])[]];
}

/** One of a few words. */
export function choice<T extends string>(spec: ChoiceSpec<T>): Field<T> {
  const unset = spec.options[0][0];
  const allowed = spec.options.map(([value]) => value);
  return field<T>(spec, {
    kind: "choice",
    unset,
    form: { type: "select", default: unset, options: spec.options.map(([value, label]) => ({ value, label })) },
    parse(value, key) {
      const word = plainText(value, key);
      const found = allowed.find((candidate) => candidate === word);
      if (found !== undefined) return found;
      throw new ConfigError(key, `must be one of ${allowed.join(", ")}, not ${quote(word)}`);
    },
  });
}
