import { contextNamespace, ownPodIdentity } from "@paperclip-k8s/engine";
import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { accountOf, withoutAccountFolders } from "../built-in/account.ts";
import { IN_PLACE_DEFAULTS } from "../built-in/in-place.ts";
import { hasPreparedAccount } from "../built-in/prepared-account.ts";
import { translateSettings } from "../built-in/translate.ts";
import { checkKubeconfig } from "../policy/check-kubeconfig.ts";
import { enforce } from "../policy/enforce.ts";
import { type Agent, type AgentPolicy, forAgent } from "../policy/for-agent.ts";
import { loadPolicy } from "../policy/load-policy.ts";
import type { Policy } from "../policy/policy.ts";
import { Refusals } from "../policy/refusal.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import type { Raw } from "../settings/field.ts";
import { clusterFields } from "../settings/fields/cluster.ts";
import { parseConfig, usualDataPath } from "../settings/parse.ts";
import { find } from "../settings/read.ts";
import { setByHost } from "./environment/set-by-host.ts";
import { builtInNames } from "./inherit/name-rules.ts";

interface CheckedConfig {
  readonly config: AgentConfig;
  readonly policy: Policy;
}

/** What is known of the host. */
interface HostFacts {
  readonly agent?: Agent;
  /** Whether it has a default model for agents that name none. */
  readonly hasDefaultModel?: boolean;
}

/** An agent's settings, completed and allowed by the operator's policy. Nothing was asked of the cluster yet, and no file of theirs was opened. */
export async function checkedConfig(cli: AgentCli, raw: Raw, serverEnv: NodeJS.ProcessEnv, host: HostFacts = {}): Promise<CheckedConfig> {
  const ofAgent = forAgent(await loadPolicy(serverEnv), host.agent ?? {}, cli);
  const { policy } = ofAgent;
  const asked = readConfig(cli, raw, serverEnv, ofAgent, host);
  const refusals = new Refusals(policy);
  const config = { ...asked, kubeconfig: await checkKubeconfig(asked, policy, serverEnv, refusals) };
  // Reading a kubeconfig takes time, and only a namespace of the agent's own choice is compared with the server's.
  const isChosen = config.namespace !== null && config.namespace !== policy.defaults.namespace;
  const namespaces = isChosen ? await ownNamespaces(config.kubeconfig, serverEnv) : [];
  const isBuiltIn = builtInNames(cli.variables, serverEnv);
  const accountVariables = cli.builtIn?.accountVariables ?? [];
  const isSetByHost = setByHost({ env: config.env, serverEnv, hasAccount: await hasPreparedAccount(raw), accountVariables });
  enforce(config, policy, { env: serverEnv, namespaces, container: cli.container, isBuiltIn, isSetByHost }, refusals).check();
  return { config, policy };
}

/** Agents of a built-in type have settings of that type, and the log that the host's page expects. */
function readConfig(
  cli: AgentCli,
  raw: Raw,
  serverEnv: NodeJS.ProcessEnv,
  { policy, defaults }: AgentPolicy,
  host: HostFacts,
): AgentConfig {
  if (cli.inPlace === undefined || cli.builtIn === undefined) return parseConfig(raw, serverEnv, cli, defaults);
  const dataPath = find(clusterFields.dataPath, [raw, defaults]) ?? usualDataPath(serverEnv);
  const facts = { raw: withoutAccountFolders(raw), serverEnv, policy, dataPath, hasDefaultModel: host.hasDefaultModel === true };
  const translated = translateSettings(cli.builtIn, facts);
  const usual = { ...IN_PLACE_DEFAULTS, ...cli.builtIn.usual?.(facts) };
  const config = parseConfig(translated.raw, serverEnv, cli, { ...usual, ...defaults });
  return { ...config, account: accountOf(raw), warnings: [...translated.notes.map(({ message }) => message), ...config.warnings] };
}

/** That of the server's pod; of a server without one, that of its kubeconfig. */
async function ownNamespaces(kubeconfig: string | null, serverEnv: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const pod = await ownPodIdentity(serverEnv);
  if (pod !== null) return [pod.namespace];
  const named = kubeconfig === null ? null : await contextNamespace({ kubeconfig }).catch(() => null);
  return named === null ? [] : [named];
}
