import type { Field, Raw } from "../settings/field.ts";
import { limitFields } from "../settings/fields/limits.ts";
import { podFields } from "../settings/fields/pod.ts";
import { stateFields } from "../settings/fields/state.ts";
import { amountOf } from "../settings/kinds/scalar.ts";
import { find } from "../settings/read.ts";
import type { Policy } from "./policy.ts";

/** The policy's values for settings that an agent does not have; a built-in default above a limit of the policy is that limit. */
export function defaultsOf({ defaults, limits }: Pick<Policy, "defaults" | "limits">): Raw {
  const given: Raw = Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== null));
  const limited: readonly (readonly [Field<unknown>, unknown])[] = [
    ...pair(podFields.requestCpu, podFields.limitCpu, limits.cpu, given),
    ...pair(podFields.requestMemory, podFields.limitMemory, limits.memory, given),
    ...quantity(stateFields.agentDbStorageCapacity, limits.storageCapacity),
    ...number(limitFields.maxRunSec, limits.runSec),
    ...number(limitFields.graceSec, limits.graceSec),
    ...number(limitFields.scheduleTimeoutSec, limits.scheduleTimeoutSec),
    ...number(limitFields.ttlSecondsAfterFinished, limits.ttlSecondsAfterFinished),
  ];
  return { ...Object.fromEntries(limited.map(([field, value]) => [field.key, value])), ...given };
}

/** A limit follows a larger request that the operator has given. */
function pair(request: Field<string>, limit: Field<string>, most: string, given: Raw) {
  const isMore = amountOf(find(request, [given]) ?? "0") > amountOf(most);
  return [...quantity(request, most), ...(isMore ? [] : quantity(limit, most))];
}

const quantity = (field: Field<string>, most: string) => (amountOf(field.unset) > amountOf(most) ? [[field, most] as const] : []);

const number = (field: Field<number>, most: number) => (field.unset > most ? [[field, most] as const] : []);
