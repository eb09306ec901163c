import type { FormField } from "../host/types.ts";
import { ConfigError } from "./config-error.ts";

export type Raw = Readonly<Record<string, unknown>>;

/** One setting, described once: parsing, the host's form, the README and the agent configuration doc all read this. */
export interface Field<T> {
  /** Key in the adapterConfig; dots stand for nested objects, the form sends them as they are. */
  readonly key: string;
  /** Other keys of the same meaning: the first one that is set counts. */
  readonly aliases: readonly string[];
  readonly kind: Kind;
  /** The value of a field that is not set. */
  readonly unset: T;
  /** The default in words, where the value alone is not clear. */
  readonly defaultText: string | null;
  /** What it means, in Markdown; the form's hint, too. */
  readonly doc: string;
  /** Its name on the agent's page, in our part of the form or in the host's; null = no page shows it. */
  readonly label: string | null;
  /** How the adapter's own form shows it; null = the platform's form has it, the host sets it, or it is for the API only. */
  readonly form: FormPart | null;
  /** Reads a value that is not unset. */
  parse(value: unknown, key: string): Reading<T>;
}

/**
 * What a kind makes of a value. Agents have values that earlier adapters took without effect, so what can be left out without harm is ignored, in whole or in part, and
 * the run's log says so; a kind refuses with a ConfigError what would run in another place or with other rights than it says. A value that is ignored counts as not set, which any agent may choose.
 */
export type Reading<T> = Used<T> | Ignored | "unset";

interface Used<T> {
  readonly value: T;
  /** What of it is not used as it was written; null = nothing. */
  readonly note: string | null;
}

export interface Ignored {
  /** Why. */
  readonly ignored: string;
}

export const used = <T>(value: T, note: string | null = null): Used<T> => ({ value, note });
export const ignored = (why: string): Ignored => ({ ignored: why });

type Kind = "text" | "number" | "toggle" | "choice" | "promise" | "list" | "map" | "tolerations" | "env";

export interface FormPart {
  readonly type: FormField["type"];
  readonly default?: string | number | boolean;
  readonly options?: readonly { readonly label: string; readonly value: string }[];
  /** Most people set it: it stands above the form's switch. */
  readonly first?: boolean;
}

/** What every kind of field is made of. */
export interface Spec {
  /** Where it is not the name that the code has for it. */
  readonly key?: string;
  readonly doc: string;
  readonly aliases?: readonly string[];
  readonly defaultText?: string;
  /** Its name in our part of the form; none = it is not there. */
  readonly label?: string;
  /** Its name in the host's own part of the form. */
  readonly hostLabel?: string;
  readonly first?: boolean;
  /** The most characters of its text; infinite for prompts. */
  readonly longest?: number;
}

/** More than any name, path or list needs: the host takes megabytes. */
const LONGEST = 16_384;

type Shape<T> = Pick<Field<T>, "kind" | "unset" | "parse"> & { readonly form: Omit<FormPart, "first"> };

/** A field that gets its key from the name that the code has for it, unless it says otherwise. */
export type Unnamed<T> = (name: string) => Field<T>;

export function field<T>(spec: Spec, shape: Shape<T>): Unnamed<T> {
  const { doc, aliases = [], defaultText = null, label, hostLabel, first, longest = LONGEST } = spec;
  const parse: typeof shape.parse = (value, key) => {
    if (typeof value === "string" && value.length > longest) throw new ConfigError(key, `must be at most ${longest} characters long`);
    return shape.parse(value, key);
  };
  const form = label === undefined ? null : { ...shape.form, ...(first && { first }) };
  return (name) => ({ key: spec.key ?? name, doc, aliases, defaultText, ...shape, parse, label: label ?? hostLabel ?? null, form });
}

type Named<F> = { readonly [Name in keyof F]: F[Name] extends Unnamed<infer T> ? Field<T> : never };

export function named<F extends Readonly<Record<string, Unnamed<unknown>>>>(fields: F): Named<F> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field(name)])) as Named<F>;
}

/** The form cannot send "nothing": it sends 0, "" and false instead. Only a toggle's false is a choice, and what is no text is no promise about safety. */
export function isUnset(value: unknown, kind: Kind): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === "string") return value.trim() === "";
  return kind !== "toggle" && kind !== "promise" && (value === 0 || value === false);
}

/** Fields by the names that the code has for them, and what they hold. */
export type Fields = Readonly<Record<string, Field<unknown>>>;
export type ValuesOf<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never };
