import { isRecord } from "../host/context-values.ts";
import type { Field } from "../settings/field.ts";
import { parsedText } from "../settings/kinds/structured.ts";

/** Why the earlier adapters ignored a value that is used now; null = they did not. */
export function ignoredEarlier({ kind, unset }: Pick<Field<unknown>, "kind" | "unset">, value: unknown): string | null {
  switch (kind) {
    case "number":
      return typeof value === "number" ? null : "a number as text was ignored";
    case "toggle":
      return typeof value === "boolean" ? null : "only true and false counted, not as text or number";
    case "list":
      return Array.isArray(value) ? null : "a list as text was ignored";
    case "tolerations":
      return Array.isArray(value) ? null : "JSON text was ignored";
    case "map":
      return hasOtherLabels(value) ? "numbers, true and false among its values were ignored" : null;
    case "text":
      return typeof value === "string" || typeof unset !== "string" ? null : "a number was ignored";
    default:
      return null;
  }
}

function hasOtherLabels(value: unknown): boolean {
  const given = typeof value === "string" ? parsedText(value) : value;
  return isRecord(given) && Object.values(given).some((item) => typeof item === "number" || typeof item === "boolean");
}
