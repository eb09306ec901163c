import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";
import { quote } from "../quote.ts";

/** On or off. Its default stands in the form, so that a false that arrives was chosen. */
export function toggle(spec: Spec & { readonly default: boolean }): Field<boolean> {
  return field<boolean>(spec, {
    kind: "toggle",
    unset: spec.default,
    form: { type: "toggle", default: spec.default },
    parse(value, key) {
      const word = typeof value === "string" ? value.trim().toLowerCase() : value;
      if (word === true || word === "true" || word === 1) return true;
      if (word === false || word === "false" || word === 0) return false;
      throw new ConfigError(key, `must be true or false, not ${quote(value)}`);
    },
  });
}
