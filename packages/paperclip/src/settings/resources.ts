import type { AgentResources } from "./agent-config.ts";
import { kindOf } from "./config-error.ts";
import { type Field, isUnset } from "./field.ts";
import { podFields } from "./fields/pod.ts";
import { amountOf } from "./kinds/scalar.ts";
import { type Note, noted } from "./note.ts";
import { find, nested, type Sources } from "./read.ts";
import { settingName } from "./setting-name.ts";

interface Found {
  readonly resources: AgentResources;
  readonly notes: readonly Note[];
}

/** Requests and limits that fit each other: if only one of the two is set, the default of the other follows it; of two that do not fit, the limit counts. */
export function resources(sources: Sources): Found {
  const cpu = pair(sources, podFields.requestCpu, podFields.limitCpu);
  const memory = pair(sources, podFields.requestMemory, podFields.limitMemory);
  return {
    resources: { requests: { cpu: cpu.request, memory: memory.request }, limits: { cpu: cpu.limit, memory: memory.limit } },
    notes: [...notObjects(sources), ...(cpu.notes ?? []), ...(memory.notes ?? [])],
  };
}

function notObjects([own]: Sources): readonly Note[] {
  return ["resources", "resources.requests", "resources.limits"].flatMap((key) => {
    const value = nested(own, key);
    if (isUnset(value, "map") || (typeof value === "object" && !Array.isArray(value))) return [];
    return [
      noted(
        { key, label: null },
        `is ignored: must be an object, not ${kindOf(value)}; the form's keys are dotted, such as resources.limits.memory`,
      ),
    ];
  });
}

interface Pair {
  readonly request: string;
  readonly limit: string;
  readonly notes?: readonly Note[];
}

function pair(sources: Sources, requestField: Field<string>, limitField: Field<string>): Pair {
  const [own] = sources;
  const request = find(requestField, sources);
  const limit = find(limitField, sources);
  const wanted = { request: request ?? requestField.unset, limit: limit ?? limitField.unset };
  if (amountOf(wanted.request) <= amountOf(wanted.limit)) return wanted;
  if (request === undefined) return { request: wanted.limit, limit: wanted.limit };
  if (limit === undefined) return { request, limit: request };
  // A request that is the operator's, for many agents, is nothing to warn one of them of.
  if (find(requestField, [own]) === undefined) return { request: limit, limit };
  const text = `${request} is more than ${settingName(limitField)}, ${limit}, which is used for both`;
  return { request: limit, limit, notes: [noted(requestField, text)] };
}
