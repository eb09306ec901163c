import { isRecord } from "../host/context-values.ts";
import { kindOf } from "../settings/config-error.ts";
import type { Field } from "../settings/field.ts";
import { readStrictly } from "../settings/read.ts";
import { type CommonValues, commonFields } from "../settings/schema.ts";
import { similar } from "../settings/similar.ts";
import type { GivenSettings } from "./policy.ts";
import { attempt, labels, type Reader, wrong } from "./readers.ts";

// Agents' settings in the operator's file: all that every agent can have, but for those that are about the agent itself.

type Refused = { readonly [Name in keyof CommonValues]?: string };

const OF_THE_AGENT = "is the agent's own: the policy does not give it";
const OF_THE_HOST = "is set by Paperclip: the policy does not give it";
const OF_THE_CLUSTER = "is kept by the cluster's network policies: the policy does not give it, but says so in allow.networkScopes";
const REFUSED: Refused = {
  env: "the policy does not give it, being no place for secrets; a pod template gives variables (podTemplates.<name>.agent.env)",
  cwd: OF_THE_AGENT,
  promptTemplate: OF_THE_AGENT,
  bootstrapPromptTemplate: OF_THE_AGENT,
  showAllSettings: OF_THE_AGENT,
  networkScope: OF_THE_CLUSTER,
  networkAllowlist: OF_THE_CLUSTER,
  instructionsFilePath: OF_THE_HOST,
  instructionsRootPath: OF_THE_HOST,
  instructionsEntryFile: OF_THE_HOST,
  instructionsBundleMode: OF_THE_HOST,
};

const OF_THE_SERVER = "is the same for all agents of a server: set it in defaults";
const REFUSED_BY_RULE: Refused = { ...REFUSED, dataPath: OF_THE_SERVER, serverContainer: OF_THE_SERVER };

const OF_ONE_CLI = "one that a single CLI has is given by a rule of agents whose match has a type";

const COMMON = Object.values<Field<unknown>>(commonFields);

/** `unknown`: what becomes of a key that not every agent has. */
function settings(refused: Refused, unknown: "refuse" | "keep"): Reader<GivenSettings> {
  return (value, at, base, problems) => {
    if (value === undefined || value === null) return base;
    if (!isRecord(value)) return wrong(base, problems, at, `must be an object, not ${kindOf(value)}`);
    const read = ([key, item]: readonly [string, unknown]) => {
      const place = `${at}.${key}`;
      const field = COMMON.find((each) => each.key === key);
      const why = Object.entries(refused).find(([name]) => name === key)?.[1];
      if (why === undefined && field !== undefined) return [key, readGiven(field, item, place, problems)];
      if (why !== undefined) problems.push(`${place}: ${why}`);
      else if (unknown === "refuse") problems.push(noSuchSetting(place, key, COMMON, OF_ONE_CLI));
      return [key, item];
    };
    return Object.fromEntries(Object.entries(flat(value)).map(read)) as GivenSettings;
  };
}

export const defaultSettings: Reader<GivenSettings> = settings(REFUSED, "refuse");
export const ruleSettings: Reader<GivenSettings> = settings(REFUSED_BY_RULE, "refuse");
/** Of a rule for some types of agents: other keys may be of their CLI alone. */
export const typedRuleSettings: Reader<GivenSettings> = settings(REFUSED_BY_RULE, "keep");

/** What is wrong with the settings that only this CLI has. */
export function ownProblems(given: GivenSettings, at: string, own: readonly Field<unknown>[]): readonly string[] {
  const problems: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (COMMON.some((field) => field.key === key)) continue;
    const field = own.find((each) => each.key === key);
    if (field === undefined)
      problems.push(noSuchSetting(`${at}.${key}`, key, [...COMMON, ...own], "these types of agents have none of this name"));
    else readGiven(field, value, `${at}.${key}`, problems);
  }
  return problems;
}

function readGiven(field: Field<unknown>, value: unknown, at: string, problems: string[]): unknown {
  const read = value === null ? null : (attempt(at, problems, (place) => readStrictly(field, value, place)) ?? null);
  // Of an agent's own labels a wrong one is made valid with a warning: in the file it is a mistake.
  return field === commonFields.labels && read !== null ? labels(read, at, {}, problems) : read;
}

function noSuchSetting(at: string, key: string, fields: readonly Field<unknown>[], otherwise: string): string {
  const [near] = similar(key, fields, (field) => [field.key]);
  return `${at}: there is no such setting; ${near === undefined ? otherwise : `did you mean ${near.key}?`}`;
}

/** Nested objects as dotted keys, where settings have such keys. */
function flat(given: Record<string, unknown>, path = ""): Record<string, unknown> {
  const entries = Object.entries(given).flatMap(([name, value]) => {
    const key = `${path}${name}`;
    const isParent = COMMON.some((field) => field.key.startsWith(`${key}.`));
    return isParent && isRecord(value) ? Object.entries(flat(value, `${key}.`)) : [[key, value] as const];
  });
  return Object.fromEntries(entries);
}
