import { isLabelKey } from "@paperclip-k8s/engine";
import { isRecord } from "../../host/context-values.ts";
import { ConfigError, few, kindOf, quote } from "../config-error.ts";
import { field, ignored, type Raw, type Spec, type Unnamed, used } from "../field.ts";

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
      if (!Array.isArray(items)) return ignored(`must be a list of texts, not ${kindOf(items)}`);
      const texts: string[] = [];
      const others: string[] = [];
      for (const [index, item] of items.entries()) {
        if (typeof item !== "string") {
          others.push(`item ${index + 1} (${kindOf(item)})`);
          continue;
        }
        if (item.includes("\0")) throw new ConfigError(key, `item ${index + 1} holds a NUL character`);
        spec.check?.(item, key, index + 1);
        texts.push(item);
      }
      return used(texts, others.length === 0 ? null : `must be a list of texts; left out: ${few(others)}`);
    },
  });
}

/** Commas separate where there are any (the edit form's rule), else white space (the create form's). */
function textItems(text: string): string[] {
  const pieces = text.includes(",") ? text.split(/[,\r\n]/).map((piece) => piece.trim()) : text.split(/\s+/);
  return pieces.filter((piece) => piece !== "");
}

/** Environment: an object of texts. Messages repeat no value, and of a wrong name only what cannot be a secret. */
export function env(spec: Spec): Unnamed<TextMap> {
  return field<TextMap>(spec, {
    kind: "env",
    unset: {},
    form: { type: "textarea" },
    parse(value, key) {
      if (!isRecord(value)) return ignored(`must be an object of names and texts, not ${kindOf(value)}`);
      const entries = Object.entries(value);
      for (const [index, [name, item]] of entries.entries()) checkVariable(name, item, key, index + 1);
      const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
      const others = entries.filter(([, item]) => typeof item !== "string").map(([name, item]) => `${name} (${kindOf(item)})`);
      return used(Object.fromEntries(texts), others.length === 0 ? null : `values must be texts; left out: ${few(others)}`);
    },
  });
}

/** What Kubernetes takes in every version: no "=", and nothing that is a step in a path. */
const VARIABLE = /^(?!\.\.?$|\.\.)[-._A-Za-z][-._A-Za-z0-9]*$/;

function checkVariable(name: string, item: unknown, key: string, place: number): void {
  if (!VARIABLE.test(name)) {
    // People paste NAME=secret, or the secret alone, into the name's field.
    const start = /^[A-Z_]*/.exec(name)?.[0] ?? "";
    throw new ConfigError(key, `name ${place} ("${start}…") is not a valid environment variable name`);
  }
  if (typeof item === "string" && item.includes("\0"))
    throw new ConfigError(`${key}.${name}`, "holds a NUL character, which no environment variable can");
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
      const given = typeof value === "string" ? parsedText(value) : value;
      if (typeof given !== "string" && !isRecord(given))
        return ignored(`must be an object, JSON text of one, or key=value lines, not ${kindOf(given)}`);
      const { entries, others } = typeof given === "string" ? keyValueLines(given) : labelTexts(given);
      if (entries.length === 0 && others.length > 0) return ignored(badText(value) ?? few(others));
      if (entries.length === 0 && typeof given === "string") return "unset";
      for (const [name, item] of entries) {
        if (!isLabelKey(name)) throw new ConfigError(key, `${quote(name)} is not a valid label key`);
        spec.check?.(name, item, key);
      }
      return used(Object.fromEntries(entries), others.length === 0 ? null : `left out: ${few(others)}`);
    },
  });
}

interface Entries {
  readonly entries: readonly (readonly [string, string])[];
  /** What has no effect, and why. */
  readonly others: readonly string[];
}

function labelTexts(given: Raw): Entries {
  const isLabel = (item: unknown): item is string | number | boolean => ["string", "number", "boolean"].includes(typeof item);
  const all = Object.entries(given);
  return {
    entries: all.flatMap(([name, item]) => (isLabel(item) ? [[name.trim(), String(item).trim()] as const] : [])),
    others: all.flatMap(([name, item]) => (isLabel(item) ? [] : [`${quote(name)} must be text, not ${kindOf(item)}`])),
  };
}

/** First "=" splits; blank lines and # comments do not count; nothing else there = unset. */
function keyValueLines(text: string): Entries {
  const entries: (readonly [string, string])[] = [];
  const others: string[] = [];
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const split = trimmed.indexOf("=");
    const name = trimmed.slice(0, Math.max(0, split)).trim();
    if (name === "") others.push(`line ${index + 1} must be key=value, not ${quote(trimmed)}`);
    else entries.push([name, trimmed.slice(split + 1).trim()]);
  }
  return { entries, others };
}

/** JSON text becomes its value; other text stays text. */
export function parsedText(text: string): unknown {
  const value = jsonOf(text);
  return value === undefined ? text : value;
}

/** Why a text is none of the forms that its field has, where that can be seen; null = it cannot. */
export function badText(value: unknown): string | null {
  if (typeof value !== "string") return null;
  // The host's edit form turns a stored object into this text.
  if (value.includes("[object Object]")) return 'holds "[object Object]": the form cannot show an object, enter it as JSON text';
  return /^\s*[[{]/.test(value) ? "is not valid JSON" : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
