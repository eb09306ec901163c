import { isLabelKey } from "@paperclip-k8s/engine";
import { isRecord } from "../../host/context-values.ts";
import { ConfigError, kindOf, quote } from "../config-error.ts";
import { field, type Spec, type Unnamed } from "../field.ts";

// Kinds of fields that hold several values.

interface ListSpec extends Spec {
  readonly check?: (item: string, key: string, place: number) => void;
}

/** A list of texts, kept as it is; one text is split as the host's forms do it. Items are never repeated: arguments may be secrets. */
export function list(spec: ListSpec): Unnamed<readonly string[]> {
  return field<readonly string[]>(spec, {
    kind: "list",
    unset: [],
    form: { type: "text" },
    parse(value, key) {
      const items = typeof value === "string" ? ((value.trim().startsWith("[") ? jsonOf(value) : undefined) ?? textItems(value)) : value;
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
function textItems(text: string): string[] {
  const pieces = text.includes(",") ? text.split(/[,\r\n]/).map((piece) => piece.trim()) : text.split(/\s+/);
  return pieces.filter((piece) => piece !== "");
}

/** Environment: an object of texts. Messages repeat no value, and of a wrong name only what cannot be a secret. */
export function env(spec: Spec): Unnamed<Readonly<Record<string, string>>> {
  return field<Readonly<Record<string, string>>>(spec, {
    kind: "env",
    unset: {},
    form: { type: "textarea" },
    parse(value, key) {
      if (!isRecord(value)) throw new ConfigError(key, "must be an object of names and texts");
      return Object.fromEntries(Object.entries(value).map(([name, item], index) => [name, variable(name, item, key, index + 1)]));
    },
  });
}

function variable(name: string, item: unknown, key: string, place: number): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    // People paste NAME=secret, or the secret alone, into the name's field.
    const start = /^[A-Z_]*/.exec(name)?.[0] ?? "";
    throw new ConfigError(key, `name ${place} ("${start}…") is not a valid environment variable name`);
  }
  if (typeof item !== "string") throw new ConfigError(`${key}.${name}`, `must be text, not ${kindOf(item)}`);
  if (item.includes("\0")) throw new ConfigError(`${key}.${name}`, "holds a NUL character, which no environment variable can");
  return item;
}

export type TextMap = Readonly<Record<string, string>>;

interface MapSpec extends Spec {
  readonly check?: (name: string, value: string, key: string) => void;
}

/** Label keys and their values: an object, JSON text, or `key=value` lines; null = unset, {} = none on purpose. */
export function map(spec: MapSpec): Unnamed<TextMap | null> {
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
  if (typeof given === "string") return keyValueLines(given, key);
  if (!isRecord(given)) throw new ConfigError(key, `must be an object, JSON text of one, or key=value lines, not ${kindOf(given)}`);
  return Object.entries(given).map(([name, item]) => [name.trim(), labelText(item, name, key)] as const);
}

function labelText(item: unknown, name: string, key: string): string {
  if (typeof item === "number" || typeof item === "boolean") return String(item);
  if (typeof item !== "string") throw new ConfigError(key, `${quote(name)} must be text, not ${kindOf(item)}`);
  return item.trim();
}

/** First "=" splits; blank lines and # comments do not count; nothing else there = unset. */
function keyValueLines(text: string, key: string): (readonly [string, string])[] | null {
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

/** JSON text becomes its value; other text stays text, unless its first character shows that JSON was meant. */
export function parsedText(text: string, key: string, opening: "{" | "["): unknown {
  // The host's edit form turns a stored object into this text.
  if (text.includes("[object Object]"))
    throw new ConfigError(key, 'holds "[object Object]": the form cannot show an object, enter it as JSON text');
  const value = jsonOf(text);
  if (value === undefined && text.trim().startsWith(opening)) throw new ConfigError(key, "is not valid JSON");
  return value === undefined ? text : value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
