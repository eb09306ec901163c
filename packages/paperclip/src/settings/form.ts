import type { FormField } from "../host/types.ts";
import type { Field, FormPart, Raw } from "./field.ts";
import { formFields } from "./fields/form.ts";
import { asText } from "./read.ts";
import { fieldsOf, type SettingsOwner } from "./schema.ts";

/** What this server decides about the form; the host asks for one form per server, not per agent. */
export interface FormFacts {
  /** Keys of settings that no agent of this server can choose. */
  readonly fixed: ReadonlySet<string>;
  /** Keys of settings without which no run of this server can start. */
  readonly needed: ReadonlySet<string>;
  /** What a setting is here if an agent does not set it, where that is not its usual default. */
  readonly defaults: Raw;
}

type Shown = Field<unknown> & { readonly label: string; readonly form: FormPart };

const SWITCH = formFields.showAllSettings.key;

/** The fields that the adapter adds to the host's form: what most people set, a switch, and below it the rest. The host has fields of its own for common settings such as the model. */
export function formSchema(cli: SettingsOwner, facts: FormFacts): { fields: FormField[] } {
  const all = fieldsOf(cli);
  const shown = all.filter((field): field is Shown => field.form !== null && field.key !== SWITCH);
  const isFirst = ({ key, form }: Shown) => !facts.fixed.has(key) && (form.first === true || facts.needed.has(key));
  const toField = (field: Shown, visibleWhen?: Condition) => formField(field, all, facts, visibleWhen);
  return {
    fields: [
      ...shown.filter(isFirst).map((field) => toField(field)),
      ...all.filter(({ key }) => key === SWITCH).map((field) => toField(field as Shown)),
      ...shown
        .filter((field) => !isFirst(field))
        .map((field) => toField(field, facts.fixed.has(field.key) ? whileSet(field) : WITH_SWITCH)),
    ],
  };
}

/** The host knows one condition for each field, and compares texts. */
type Condition = { readonly key: string } & ({ readonly value: string } | { readonly notValues: readonly string[] });

const WITH_SWITCH: Condition = { key: SWITCH, value: "true" };

/** What cannot be chosen is not asked for; but if it was set before, it is there to be taken back. */
const whileSet = ({ key, form }: Shown): Condition => ({ key, notValues: ["", String(form.default ?? "")] });

function formField(field: Shown, all: readonly Field<unknown>[], facts: FormFacts, visibleWhen?: Condition): FormField {
  const { options, first: _, ...form } = field.form;
  const here = facts.defaults[field.key];
  return {
    key: field.key,
    label: field.label,
    ...form,
    // Only where the form shows a default: a host writes those of a new agent's form into its settings.
    ...(form.default !== undefined && here !== undefined && { default: here }),
    ...(options && { options: options.map((option) => ({ ...option })) }),
    hint: hint(field, all, facts),
    ...(visibleWhen && { meta: { visibleWhen } }),
  };
}

/** The form shows plain text, and does not show the default of an empty field: so the hint does. */
function hint(field: Shown, all: readonly Field<unknown>[], { fixed, defaults }: FormFacts): string {
  const words = inWords(field, all);
  const text = words(field.doc);
  const here = field.form.default === undefined ? defaults[field.key] : undefined;
  const usual = here === undefined ? field.defaultText : `${asText(here)}, by the operator's policy`;
  return [
    `${text[0]?.toUpperCase()}${text.slice(1)}.`,
    ...(usual === null ? [] : [`Default: ${words(usual)}.`]),
    ...(fixed.has(field.key) ? ["Agents on this server cannot choose it: clear this field."] : []),
  ].join(" ");
}

/** Documents name settings and their values as the API does, in backticks; the form names them as it shows them. */
function inWords(field: Shown, all: readonly Field<unknown>[]): (text: string) => string {
  const options = [...(field.form.options ?? []), ...all.flatMap(({ form }) => form?.options ?? [])];
  return (text) =>
    text.replace(/`([^`]*)`/g, (_, code: string) => {
      const label = all.find(({ key }) => key === code)?.label ?? options.find(({ value }) => value === code)?.label;
      return label === undefined ? code : `"${label}"`;
    });
}
