import { ConfigError } from "./config-error.ts";
import type { Field } from "./field.ts";
import { commonFields, fieldsOf, type SettingsOwner } from "./schema.ts";

/** A setting as messages name it, by its label on the agent's page and its key in the API: "Memory limit (resources.limits.memory)". */
export function settingName({ label, key }: Pick<Field<unknown>, "label" | "key">): string {
  return nameWith(label, key, "");
}

/** A common setting's name on the agent's page; null = no page shows it. */
export function formLabel(key: string): string | null {
  return Object.values<Field<unknown>>(commonFields).find((field) => field.key === key)?.label ?? null;
}

/** An error of one CLI's settings with the names that the agent's page shows; any other error as it is. */
export function inFormWords(error: unknown, cli: SettingsOwner): unknown {
  if (!(error instanceof ConfigError)) return error;
  const fields = fieldsOf(cli);
  return error.renamed((keys) =>
    keys
      .split(", ")
      .map((key) => nameIn(fields, key))
      .join(", "),
  );
}

/** The key may go on into the setting's value, such as `tolerations[0].key`. What is no setting keeps its name. */
function nameIn(fields: readonly Field<unknown>[], given: string): string {
  for (const { label, key, aliases } of fields) {
    const own = [key, ...aliases].find((each) => given.startsWith(each) && /^([.[]|$)/.test(given.slice(each.length)));
    if (own !== undefined) return nameWith(label, own, given.slice(own.length));
  }
  return given;
}

function nameWith(label: string | null, key: string, rest: string): string {
  if (label === null) return `${key}${rest}`;
  return label.toLowerCase() === key.toLowerCase() ? `${label}${rest}` : `${label} (${key}${rest})`;
}
