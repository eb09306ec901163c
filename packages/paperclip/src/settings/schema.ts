import type { EarlierSetting } from "./earlier-setting.ts";
import type { Field, Fields, ValuesOf } from "./field.ts";
import { agentFields, startFields } from "./fields/agent.ts";
import { clusterFields } from "./fields/cluster.ts";
import { formFields } from "./fields/form.ts";
import { limitFields } from "./fields/limits.ts";
import { podFields } from "./fields/pod.ts";
import { CLAIM_FIELDS, stateFields } from "./fields/state.ts";

/** Settings that every adapter has, by the name the code has for them. */
export const commonFields = {
  ...agentFields,
  ...startFields,
  ...clusterFields,
  ...podFields,
  ...limitFields,
  ...stateFields,
  ...formFields,
} as const;

export type CommonValues = ValuesOf<typeof commonFields>;

/** What one CLI adds to the common settings. */
export interface CliSettings<Own extends Fields = Fields> {
  readonly own: Own;
  /** What a common setting means to this CLI, where that differs. */
  readonly docs?: Readonly<Partial<Record<keyof CommonValues, string>>>;
  /** Throws a ConfigError for a model that this CLI is certain not to take. */
  checkModel?(model: string, key: string): void;
  /** What the earlier adapter of this CLI did differently with a setting, besides what all of them did. */
  readonly earlier?: readonly EarlierSetting[];
}

/** The part of an agent CLI that its settings depend on. */
export interface SettingsOwner<Own extends Fields = Fields> {
  readonly settings: CliSettings<Own>;
  readonly skillsFolder: string;
  readonly state?: { readonly claim?: object };
}

interface Group {
  readonly title: string;
  readonly fields: readonly Field<unknown>[];
}

/** The settings of one adapter, in the order of form and documents. */
export function groupsOf(cli: SettingsOwner): readonly Group[] {
  const groups: readonly (readonly [string, Fields])[] = [
    ["Where it runs", clusterFields],
    ["The agent", { ...agentFields, ...cli.settings.own, ...startFields }],
    ["The pod", podFields],
    ["Time limits", limitFields],
    ["State and Jobs", stateFields],
    ["The form", formFields],
  ];
  const docs: Readonly<Record<string, string>> = cli.settings.docs ?? {};
  const hidden: readonly string[] = cli.state?.claim === undefined ? CLAIM_FIELDS : [];
  return groups.map(([title, fields]) => ({
    title,
    fields: Object.entries(fields).flatMap(([name, field]) => (hidden.includes(name) ? [] : [{ ...field, doc: docs[name] ?? field.doc }])),
  }));
}

export function fieldsOf(cli: SettingsOwner): readonly Field<unknown>[] {
  return groupsOf(cli).flatMap((group) => group.fields);
}
