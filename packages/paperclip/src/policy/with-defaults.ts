import { type Field, find, type Raw } from "../settings/field.ts";
import { clusterFields } from "../settings/fields/cluster.ts";
import { limitFields } from "../settings/fields/limits.ts";
import { podFields } from "../settings/fields/pod.ts";
import { stateFields } from "../settings/fields/state.ts";
import { amountOf } from "../settings/kinds/scalar.ts";
import type { Policy } from "./policy.ts";

/** An agent's settings with the policy's values where it has none; a built-in default above a limit of the policy is that limit. */
export function withDefaults(raw: Raw, policy: Policy): Raw {
  const { defaults, limits } = policy;
  const named: readonly (readonly [Field<unknown>, unknown])[] = [
    ...Object.entries(defaults).map(([name, value]) => [SETTINGS[name as keyof typeof SETTINGS], value] as const),
    ...quantities([podFields.requestCpu, podFields.limitCpu], limits.cpu),
    ...quantities([podFields.requestMemory, podFields.limitMemory], limits.memory),
    ...quantities([stateFields.agentDbStorageCapacity], limits.storageCapacity),
    ...numbers(limitFields.maxRunSec, limits.runSec),
    ...numbers(limitFields.graceSec, limits.graceSec),
    ...numbers(limitFields.scheduleTimeoutSec, limits.scheduleTimeoutSec),
    ...numbers(limitFields.ttlSecondsAfterFinished, limits.ttlSecondsAfterFinished),
  ];
  const missing = named.filter(([field, value]) => value !== null && find(field, raw) === undefined);
  return { ...raw, ...Object.fromEntries(missing.map(([field, value]) => [field.key, value])) };
}

const { runtimeClassName, podTemplate } = podFields;
const SETTINGS = { ...clusterFields, runtimeClassName, podTemplate } satisfies Record<keyof Policy["defaults"], unknown>;

const quantities = (fields: readonly Field<string>[], most: string) =>
  fields.filter(({ unset }) => amountOf(unset) > amountOf(most)).map((field) => [field, most] as const);

const numbers = (field: Field<number>, most: number) => (field.unset > most ? [[field, most] as const] : []);
