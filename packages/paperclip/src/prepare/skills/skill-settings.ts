import type { AgentCli } from "../../agent-cli/agent-cli.ts";
import { recordOf } from "../../host/context-values.ts";
import { defaultsOf } from "../../policy/defaults-of.ts";
import { mayHaveDataPath } from "../../policy/enforce.ts";
import { loadPolicy } from "../../policy/load-policy.ts";
import type { Policy } from "../../policy/policy.ts";
import { ConfigError } from "../../settings/config-error.ts";
import type { Raw } from "../../settings/field.ts";
import { clusterFields } from "../../settings/fields/cluster.ts";
import { skillsFolderIn, usualDataPath } from "../../settings/parse.ts";
import { find } from "../../settings/read.ts";
import type { SkillPlaces } from "./find-skills.ts";

interface SkillSettings {
  readonly config: SkillPlaces;
  readonly policy: Policy;
}

/** What a list of skills needs of an agent's settings, and nothing else of them: a run says what is wrong with the others. */
export async function skillSettings(
  cli: Pick<AgentCli, "skillsFolder">,
  raw: unknown,
  serverEnv: NodeJS.ProcessEnv,
): Promise<SkillSettings> {
  const policy = await loadPolicy(serverEnv);
  const asked = askedDataPath(recordOf(raw), policy);
  const dataPath = asked !== null && mayHaveDataPath(asked, policy, serverEnv) ? asked : usualDataPath(serverEnv);
  return { config: { dataPath, skillsFolder: skillsFolderIn(dataPath, cli) }, policy };
}

/** Null = none, or one that a run refuses. */
function askedDataPath(raw: Raw, policy: Policy): string | null {
  try {
    return find(clusterFields.dataPath, [raw, defaultsOf(policy)]) ?? null;
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
