import type { FormField } from "../host/adapters.ts";
import type { Value } from "./agent-form.ts";

/** For each field that can be chosen, a value that it does not have by itself. The switch comes before the fields that it shows. */
export function otherValues(fields: readonly FormField[]): ReadonlyMap<FormField, Value> {
  return new Map(fields.filter((field) => !isFixed(field)).map((field) => [field, otherValue(field)]));
}

/** Shown only while it is set: the operator's policy leaves no choice. */
export const isFixed = ({ meta }: FormField): boolean => meta?.visibleWhen?.notValues !== undefined;

function otherValue({ key, type, default: usual, options }: FormField): Value {
  switch (type) {
    case "toggle":
      return usual !== true;
    case "number":
      return 77;
    case "select":
      return options!.at(-1)!.value;
    case "textarea":
      return "first=1\nsecond=2";
    default:
      return `set-${key.replaceAll(".", "-").toLowerCase()}`;
  }
}
