import { defaultOf, meaningOf } from "../../packages/paperclip/src/settings/documents.ts";
import type { Field } from "../../packages/paperclip/src/settings/field.ts";
import { groupsOf, type SettingsOwner } from "../../packages/paperclip/src/settings/schema.ts";

/** A CLI's settings, and what people call it. */
export interface DocumentedCli {
  readonly title: string;
  readonly cli: SettingsOwner;
}

/** The settings of all CLIs, a table for each group. A row that not every CLI has, or has so, names the CLI. */
export function settingsTables(clis: readonly DocumentedCli[]): string {
  const groups = clis.map(({ title, cli }) => ({ cli: title, groups: groupsOf(cli) }));
  const titles = groups[0]?.groups.map(({ title }) => title) ?? [];
  const tables = titles.map((title) => {
    const fields = groups.flatMap(({ cli, groups: own }) =>
      own.flatMap((group) => (group.title === title ? group.fields.map((field) => ({ cli, field })) : [])),
    );
    const keys = [...new Set(fields.map(({ field }) => field.key))];
    const rows = keys.flatMap((key) => {
      const ofKey = fields.filter(({ field }) => field.key === key);
      const isSame = ofKey.length === clis.length && new Set(ofKey.map(({ field }) => row(field))).size === 1;
      return isSame ? [row(ofKey[0]!.field)] : ofKey.map(({ cli, field }) => row(field, `${cli}: `));
    });
    return [`## ${title}`, "", "| setting | in the form | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
  });
  return tables.join("\n\n");
}

const row = (field: Field<unknown>, cli = ""): string =>
  `| \`${field.key}\` | ${field.label ?? ""} | ${cell(defaultOf(field))} | ${cli}${cell(meaningOf(field))} |`;

const cell = (text: string): string => text.replaceAll("|", "\\|");
