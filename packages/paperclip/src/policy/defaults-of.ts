import type { Field, Raw } from "../settings/field.ts";
import { clusterFields } from "../settings/fields/cluster.ts";
import { limitFields } from "../settings/fields/limits.ts";
import { podFields } from "../settings/fields/pod.ts";
import { stateFields } from "../settings/fields/state.ts";
import { amountOf } from "../settings/kinds/scalar.ts";
import type { Policy } from "./policy.ts";

/** The policy's values for settings that an agent does not have; a built-in default above a limit of the policy is that limit. */
export function defaultsOf(policy: Policy): Raw {
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
  return Object.fromEntries(named.flatMap(([field, value]) => (value === null ? [] : [[field.key, value]])));
}

const SETTINGS = { ...clusterFields, runtimeClassName: podFields.runtimeClassName } satisfies Record<keyof Policy["defaults"], unknown>;

const quantities = (fields: readonly Field<string>[], most: string) =>
  fields.filter(({ unset }) => amountOf(unset) > amountOf(most)).map((field) => [field, most] as const);

const numbers = (field: Field<number>, most: number) => (field.unset > most ? [[field, most] as const] : []);
