import { type Field, isOf } from "./field.ts";
import { agentFields } from "./fields/agent.ts";
import { clusterFields } from "./fields/cluster.ts";
import { limitFields } from "./fields/limits.ts";
import { podFields } from "./fields/pod.ts";
import { stateFields } from "./fields/state.ts";

/** Every setting of every adapter, by the name the code has for it. */
export const fields = { ...agentFields, ...clusterFields, ...podFields, ...limitFields, ...stateFields } as const;

export type Fields = typeof fields;
export type Values = { readonly [Name in keyof Fields]: Fields[Name] extends Field<infer T> ? T : never };

export interface Group {
  readonly title: string;
  readonly fields: readonly Field<unknown>[];
}

const GROUPS: readonly Group[] = [
  { title: "Where it runs", fields: Object.values(clusterFields) },
  { title: "The agent", fields: Object.values(agentFields) },
  { title: "The pod", fields: Object.values(podFields) },
  { title: "Time limits", fields: Object.values(limitFields) },
  { title: "State and Jobs", fields: Object.values(stateFields) },
];

export const allFields: readonly Field<unknown>[] = GROUPS.flatMap((group) => group.fields);

/** The settings one adapter has, in the order of form and documents. */
export function groupsOf(adapter: string): readonly Group[] {
  return GROUPS.map(({ title, fields }) => ({ title, fields: fields.filter((field) => isOf(field, adapter)) }));
}

export function fieldsOf(adapter: string): readonly Field<unknown>[] {
  return groupsOf(adapter).flatMap((group) => group.fields);
}
