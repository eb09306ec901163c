import { defaultOf, meaningOf } from "../../packages/paperclip/src/settings/documents.ts";
import { groupsOf, type SettingsOwner } from "../../packages/paperclip/src/settings/schema.ts";

export const BEGIN = "<!-- settings: written by scripts/generate-docs.ts -->";
const END = "<!-- /settings -->";

const INTRO = `The agent's \`adapterConfig\`. Nothing is required inside a cluster: what is unset comes from the server's own pod. Outside one, set \`kubeconfig\`, \`namespace\`, \`image\`
and \`dataClaim\`. Settings that reach beyond the agent's own run, such as another namespace or a service account, are refused unless the operator's policy allows
them (\`docs/policy.md\`). The form's \`0\`, empty and \`false\` mean "unset" wherever a number or text is expected. A value without a
meaning (a wrong type, a time that is no number, a key that is no setting) counts as not set, with a warning in the run's log and in the Test; a wrong place or name is refused before anything is created. The form shows what most people set; \`showAllSettings\` shows the rest. What the operator's policy decides is not asked for.`;

/** A README whose settings are those of the schema. */
export function withSettings(readme: string, cli: SettingsOwner): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the README lacks the marks "${BEGIN}" and "${END}"`);
  return `${readme.slice(0, begin)}${BEGIN}\n${settings(cli)}${readme.slice(end)}`;
}

function settings(cli: SettingsOwner): string {
  const tables = groupsOf(cli).map(({ title, fields }) => {
    const rows = fields.map(
      (field) => `| \`${field.key}\` | ${field.label ?? ""} | ${cell(defaultOf(field))} | ${cell(meaningOf(field))} |`,
    );
    return [`| ${title} | in the form | default | meaning |`, "|---|---|---|---|", ...rows].join("\n");
  });
  return `\n${[INTRO, ...tables].join("\n\n")}\n\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
