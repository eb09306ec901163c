import type { FormField } from "../adapters.ts";
import type { Value } from "./agent-form.ts";

/** For each field a value that it does not have by itself; fields that others depend on get the one that shows those. */
export function otherValues(fields: readonly FormField[]): ReadonlyMap<FormField, Value> {
  return new Map(fields.map((field) => [field, otherValue(field, fields)]));
}

function otherValue({ key, type, default: usual, options }: FormField, all: readonly FormField[]): Value {
  switch (type) {
    case "toggle":
      return usual !== true;
    case "number":
      return 77;
    case "select":
      return all.find(({ meta }) => meta?.visibleWhen?.key === key)?.meta?.visibleWhen?.value ?? options!.at(-1)!.value;
    case "textarea":
      return "first=1\nsecond=2";
    default:
      return `set-${key.replaceAll(".", "-").toLowerCase()}`;
  }
}
