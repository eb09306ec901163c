import type { AgentResources } from "./agent-config.ts";
import { ConfigError } from "./config-error.ts";
import { type Field, find, isUnset, nested, type Raw } from "./field.ts";
import { podFields } from "./fields/pod.ts";
import { amountOf } from "./kinds/scalar.ts";
import { settingName } from "./setting-name.ts";

/** Requests and limits that fit each other: if only one of the two is set, the default of the other follows it; if both are set, they must fit. */
export function resources(raw: Raw): AgentResources {
  for (const path of ["resources", "resources.requests", "resources.limits"]) checkObject(nested(raw, path), path);
  const cpu = pair(raw, podFields.requestCpu, podFields.limitCpu);
  const memory = pair(raw, podFields.requestMemory, podFields.limitMemory);
  return { requests: { cpu: cpu.request, memory: memory.request }, limits: { cpu: cpu.limit, memory: memory.limit } };
}

function checkObject(value: unknown, path: string): void {
  if (!isUnset(value, "map") && (typeof value !== "object" || Array.isArray(value)))
    throw new ConfigError(path, "must be an object; the form's keys are dotted, such as resources.limits.memory");
}

function pair(raw: Raw, requestField: Field<string>, limitField: Field<string>): { readonly request: string; readonly limit: string } {
  const request = find(requestField, raw);
  const limit = find(limitField, raw);
  const wanted = { request: request ?? requestField.unset, limit: limit ?? limitField.unset };
  if (amountOf(wanted.request) <= amountOf(wanted.limit)) return wanted;
  if (request === undefined) return { request: wanted.limit, limit: wanted.limit };
  if (limit === undefined) return { request, limit: request };
  throw new ConfigError(requestField.key, `${request} is more than ${settingName(limitField)}, ${limit}`);
}
