import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";

export interface ListSpec extends Spec {
  readonly check?: (item: string, key: string, place: number) => void;
}

/** A list of texts, taken as it is; one text is taken apart as the host's forms do it. Items are never repeated: arguments may be secrets. */
export function list(spec: ListSpec): Field<readonly string[]> {
  return field<readonly string[]>(spec, {
    kind: "list",
    unset: [],
    form: { type: "text" },
    parse(value, key) {
      const items = typeof value === "string" ? (jsonList(value) ?? words(value)) : value;
      if (!Array.isArray(items) || !items.every((item) => typeof item === "string")) throw new ConfigError(key, "must be a list of texts");
      for (const [index, item] of items.entries()) {
        if (item.includes("\0")) throw new ConfigError(key, `item ${index + 1} holds a NUL character`);
        spec.check?.(item, key, index + 1);
      }
      return items;
    },
  });
}

/** Commas separate where there are any (the edit form's rule), else white space (the create form's). */
function words(text: string): string[] {
  const pieces = text.includes(",") ? text.split(/[,\r\n]/).map((piece) => piece.trim()) : text.split(/\s+/);
  return pieces.filter((piece) => piece !== "");
}

function jsonList(text: string): unknown {
  if (!text.trim().startsWith("[")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
