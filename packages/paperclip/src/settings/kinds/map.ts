import { isLabelKey } from "@paperclip-k8s/engine";
import { ConfigError } from "../config-error.ts";
import { type Field, field, type Spec } from "../field.ts";
import { kindOf, quote } from "../quote.ts";
import { parsedText } from "./parsed-text.ts";

export type TextMap = Readonly<Record<string, string>>;

export interface MapSpec extends Spec {
  readonly check?: (name: string, value: string, key: string) => void;
}

/** Label keys and their values: an object, JSON text, or `key=value` lines; null = unset, {} = none on purpose. */
export function map(spec: MapSpec): Field<TextMap | null> {
  return field<TextMap | null>(spec, {
    kind: "map",
    unset: null,
    form: { type: "textarea" },
    parse(value, key) {
      const entries = entriesOf(value, key);
      if (entries === null) return undefined;
      for (const [name, item] of entries) {
        if (!isLabelKey(name)) throw new ConfigError(key, `${quote(name)} is not a valid label key`);
        spec.check?.(name, item, key);
      }
      return Object.fromEntries(entries);
    },
  });
}

function entriesOf(value: unknown, key: string): (readonly [string, string])[] | null {
  const given = typeof value === "string" ? parsedText(value, key, "{") : value;
  if (typeof given === "string") return lines(given, key);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new ConfigError(key, `must be an object, JSON text of one, or key=value lines, not ${kindOf(given)}`);
  return Object.entries(given).map(([name, item]) => [name.trim(), labelText(item, name, key)] as const);
}

function labelText(item: unknown, name: string, key: string): string {
  if (typeof item === "number" || typeof item === "boolean") return String(item);
  if (typeof item !== "string") throw new ConfigError(key, `${quote(name)} must be text, not ${kindOf(item)}`);
  return item.trim();
}

/** First "=" splits; blank lines and # comments do not count; nothing else there = unset. */
function lines(text: string, key: string): (readonly [string, string])[] | null {
  const entries: (readonly [string, string])[] = [];
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const split = trimmed.indexOf("=");
    if (split <= 0) throw new ConfigError(key, `line ${index + 1} must be key=value, not ${quote(trimmed)}`);
    entries.push([trimmed.slice(0, split).trim(), trimmed.slice(split + 1).trim()]);
  }
  return entries.length === 0 ? null : entries;
}
