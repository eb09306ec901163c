import type { Field } from "./field.ts";

/** A field's default as documents show it; empty = none. */
export function defaultOf({ defaultText, unset }: Field<unknown>): string {
  if (defaultText !== null) return defaultText;
  return typeof unset === "object" ? "" : `\`${unset}\``;
}

/** What a field means; of a choice, first what there is to choose. */
export function meaningOf({ doc, form }: Field<unknown>): string {
  const values = form?.options?.map(({ value }) => `\`${value}\``) ?? [];
  return values.length === 0 ? doc : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}: ${doc}`;
}
