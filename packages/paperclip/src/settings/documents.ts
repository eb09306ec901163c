import type { Field } from "./field.ts";
import { groupsOf, type SettingsOwner } from "./schema.ts";

/** The text that an agent reads before it creates another agent: the settings of this adapter in plain words. */
export function configurationDoc(
  cli: SettingsOwner & { readonly type: string; readonly label: string; readonly container: string },
): string {
  const groups = groupsOf(cli).map(({ title, fields }) => [`## ${title}`, ...fields.map(line)].join("\n"));
  return `# ${cli.label} (${cli.type})

Runs ${cli.container} as one Kubernetes Job per run.

Nothing is required where the Paperclip server runs in the cluster: what is unset comes from the server's own pod. Where it runs outside a cluster, the operator's policy file must name kubeconfig, namespace and claim; set image.
Usually set: model, env (provider keys), timeoutSec, resources. At creation Paperclip refuses promptTemplate and bootstrapPromptTemplate: write the instructions file instead.
0, "" and false mean "unset" where a number or text is expected. Dotted keys may be nested objects. A value without a meaning counts as not set, with a warning in the run's log; a wrong place or name (image, namespace, path) is refused before anything is created.

${groups.join("\n\n")}
`;
}

function line(field: Field<unknown>): string {
  const value = defaultOf(field);
  const other = field.aliases.length === 0 ? "" : ` (also ${field.aliases.join(", ")})`;
  return `- ${field.key}${other}${value === "" ? "" : `, default ${value.replaceAll("`", "")}`}: ${meaningOf(field).replaceAll("`", "")}`;
}

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
