import type { Field, Raw } from "../settings/field.ts";
import type { SettingsOwner } from "../settings/schema.ts";
import { defaultsOf } from "./defaults-of.ts";
import { ownProblems } from "./given-settings.ts";
import { unusable } from "./load-policy.ts";
import { allows } from "./patterns.ts";
import type { AgentMatch, Policy } from "./policy.ts";

/** Who an agent is, as the host says it. What is not known fits no rule: the Test button knows only the company. */
export interface Agent {
  readonly id?: string;
  readonly companyId?: string;
  readonly name?: string;
  readonly role?: string;
}

export interface AgentPolicy {
  /** Its `defaults` are those that the agent has by what no agent can choose: they are always allowed. */
  readonly policy: Policy;
  /** What counts for settings that the agent does not have. */
  readonly defaults: Raw;
}

/**
 * The policy as it is for one agent. An agent can change its own name, role and type through the host's API, so what it gets by these
 * alone is checked like a setting of its own: it gets no more than it could ask for.
 */
export function forAgent(
  policy: Policy,
  { id, companyId: company, name, role }: Agent,
  cli: Pick<SettingsOwner, "settings"> & { readonly type: string },
): AgentPolicy {
  const { type } = cli;
  const problems = typedProblems(policy, Object.values(cli.settings.own), (types) => allows(types, type));
  if (problems.length > 0) throw unusable(policy.source ?? "", problems.join("; "));
  const rules = policy.agents.filter(({ match }) => fits(match, { id, company, name, role, type }));
  const given = (of: typeof rules) => Object.assign({}, policy.defaults, ...of.map(({ defaults }) => defaults));
  const proven = { ...policy, defaults: given(rules.filter(({ match }) => isProof(match))) };
  return { policy: proven, defaults: defaultsOf({ ...policy, defaults: given(rules) }) };
}

function fits(match: AgentMatch, agent: { readonly [Key in keyof AgentMatch]: string | undefined }): boolean {
  return (["id", "company", "name", "role", "type"] as const).every((key) => {
    const [wanted, value] = [match[key], agent[key]];
    return wanted === undefined || (typeof value === "string" && allows(wanted, value));
  });
}

/** Whether no agent can make itself fit: the host gives out ids, and moves no agent to another company. */
const isProof = ({ id, name, role, type }: AgentMatch): boolean =>
  id !== undefined || [name, role, type].every((each) => each === undefined);

/** What is wrong with settings that only some CLI has, in rules for such types. */
export function typedProblems(
  { agents }: Pick<Policy, "agents">,
  own: readonly Field<unknown>[],
  isOurs: (types: readonly string[]) => boolean,
): readonly string[] {
  return agents.flatMap(({ match, defaults }, index) =>
    match.type === undefined || !isOurs(match.type) ? [] : ownProblems(defaults, `agents[${index}].defaults`, own),
  );
}
