import type { FormField } from "../host/types.ts";
import type { Field, FormPart } from "./field.ts";
import { fieldsOf, type SettingsOwner } from "./schema.ts";

/** The fields that the adapter adds to the host's form; the host has a form of its own for common ones such as the model. */
export function formSchema(cli: SettingsOwner): { fields: FormField[] } {
  return { fields: fieldsOf(cli).flatMap((field) => (field.form === null ? [] : [formField(field, field.form)])) };
}

function formField(field: Field<unknown>, { options, visibleWhen, ...form }: FormPart): FormField {
  return {
    key: field.key,
    ...form,
    ...(options && { options: options.map((option) => ({ ...option })) }),
    hint: hint(field),
    ...(visibleWhen && { meta: { visibleWhen: { ...visibleWhen } } }),
  };
}

/** The form shows plain text, and does not show the default of an empty field: so the hint does. */
function hint(field: Field<unknown>): string {
  const text = field.doc.replaceAll("`", "");
  const sentence = `${text[0]?.toUpperCase()}${text.slice(1)}.`;
  return field.defaultText === null ? sentence : `${sentence} Default: ${field.defaultText.replaceAll("`", "")}.`;
}
