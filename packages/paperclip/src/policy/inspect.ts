import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../host/context-values.ts";
import type { Field } from "../settings/field.ts";
import { typedProblems } from "./for-agent.ts";
import { POLICY_VARIABLE, readPolicy, reasonOf } from "./load-policy.ts";
import { DEFAULT_POLICY, type GivenSettings, type Policy } from "./policy.ts";

/** One value that is in force, by its place in the file. */
export interface PolicyRow {
  readonly key: string;
  readonly value: unknown;
  readonly isDefault: boolean;
}

export interface InspectedPolicy {
  /** Null = there is no file, and the defaults are in force. */
  readonly source: string | null;
  /** What is wrong with the file; with any, a server starts no run. */
  readonly problems: readonly string[];
  readonly policy: Policy | null;
  readonly rows: readonly PolicyRow[];
}

/**
 * For operators: a policy file, or the one that the environment names, as a server would take it. `own`: settings that only one of the CLIs
 * has; null = they are not checked.
 */
export async function inspectPolicy(
  file: string | null,
  env: NodeJS.ProcessEnv,
  own: readonly Field<unknown>[] | null = null,
): Promise<InspectedPolicy> {
  const source = file ?? (env[POLICY_VARIABLE]?.trim() || null);
  if (source === null) return inspected(DEFAULT_POLICY);
  try {
    const { policy, problems: found } = await readPolicy(source, env);
    const problems = own === null ? found : [...found, ...typedProblems(policy, own, () => true)];
    return problems.length === 0 ? inspected(policy) : { source, problems, policy: null, rows: [] };
  } catch (error) {
    return { source, problems: [reasonOf(error)], policy: null, rows: [] };
  }
}

function inspected(policy: Policy): InspectedPolicy {
  const { source, defaults, agents, ...values } = policy;
  // Their content is as long as the file: the names are enough.
  const podTemplates = Object.keys(policy.podTemplates);
  const rules = agents.flatMap((rule, index) => [
    { key: `agents[${index}].match`, value: rule.match, isDefault: false },
    ...givenRows(`agents[${index}].defaults`, rule.defaults),
  ]);
  const rows = [
    ...givenRows("defaults", defaults),
    ...rules,
    ...rowsOf("", { ...values, podTemplates }, { ...DEFAULT_POLICY, podTemplates: [] }),
  ];
  return { source, problems: [], policy, rows };
}

/** Only what is given: there are more settings than a screen has lines. */
function givenRows(at: string, given: GivenSettings): PolicyRow[] {
  const rows = Object.entries(given).map(([key, value]) => ({ key: `${at}.${key}`, value: value as unknown, isDefault: false }));
  return rows.length > 0 ? rows : [{ key: at, value: {}, isDefault: true }];
}

/** Sections become rows of their own; a map or a list is one value. */
function rowsOf(key: string, value: unknown, usual: unknown): PolicyRow[] {
  const isSection = isRecord(value) && isRecord(usual) && Object.keys(usual).length > 0;
  if (!isSection) return [{ key, value, isDefault: isDeepStrictEqual(value, usual) }];
  return Object.entries(value).flatMap(([name, inner]) => rowsOf(key === "" ? name : `${key}.${name}`, inner, usual[name]));
}
