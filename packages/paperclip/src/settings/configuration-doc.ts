import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { defaultOf, meaningOf } from "./describe.ts";
import type { Field } from "./field.ts";
import { groupsOf } from "./schema.ts";

/** What an agent reads that hires another: the settings of this adapter in plain words. */
export function configurationDoc(cli: Pick<AgentCli, "type" | "label" | "container">): string {
  const groups = groupsOf(cli.type).map(({ title, fields }) => [`## ${title}`, ...fields.map(line)].join("\n"));
  return `# ${cli.label} (${cli.type})

Runs ${cli.container} as one Kubernetes Job per run.

Nothing is required where the Paperclip server runs in the cluster: what is unset comes from the server's own pod. Outside a cluster set kubeconfig, namespace, image and dataClaim.
Usually set: model, env (provider keys), timeoutSec, resources. At creation Paperclip refuses promptTemplate and bootstrapPromptTemplate: write the instructions file instead.
0, "" and false mean "unset" where a number or text is expected. Dotted keys may be nested objects. A wrong value is refused by name before anything is created.

${groups.join("\n\n")}
`;
}

function line(field: Field<unknown>): string {
  const value = defaultOf(field);
  const other = field.aliases.length === 0 ? "" : ` (also ${field.aliases.join(", ")})`;
  return `- ${field.key}${other}${value === "" ? "" : `, default ${value.replaceAll("`", "")}`}: ${meaningOf(field).replaceAll("`", "")}`;
}
