import { contextNamespace, ownPodIdentity } from "@paperclip-k8s/engine";
import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { checkKubeconfig } from "../policy/check-kubeconfig.ts";
import { defaultsOf } from "../policy/defaults-of.ts";
import { enforce } from "../policy/enforce.ts";
import { loadPolicy } from "../policy/load-policy.ts";
import type { Policy } from "../policy/policy.ts";
import { Refusals } from "../policy/refusal.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import type { Raw } from "../settings/field.ts";
import { parseConfig } from "../settings/parse.ts";
import { builtInNames } from "./inherit/name-rules.ts";

interface CheckedConfig {
  readonly config: AgentConfig;
  readonly policy: Policy;
}

/** An agent's settings, completed and allowed by the operator's policy. Nothing was asked of the cluster yet, and no file of theirs was opened. */
export async function checkedConfig(cli: AgentCli, raw: Raw, serverEnv: NodeJS.ProcessEnv): Promise<CheckedConfig> {
  const policy = await loadPolicy(serverEnv);
  const asked = parseConfig(raw, serverEnv, cli, defaultsOf(policy));
  const refusals = new Refusals(policy);
  const config = { ...asked, kubeconfig: await checkKubeconfig(asked, policy, serverEnv, refusals) };
  // Reading a kubeconfig takes time, and only a namespace of the agent's own choice is compared with the server's.
  const isChosen = config.namespace !== null && config.namespace !== policy.defaults.namespace;
  const namespaces = isChosen ? await ownNamespaces(config.kubeconfig, serverEnv) : [];
  enforce(config, policy, { env: serverEnv, namespaces, isBuiltIn: builtInNames(cli.variables, serverEnv) }, refusals).check();
  return { config, policy };
}

/** That of the server's pod; of a server without one, that of its kubeconfig. */
async function ownNamespaces(kubeconfig: string | null, serverEnv: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const pod = await ownPodIdentity(serverEnv);
  if (pod !== null) return [pod.namespace];
  const named = kubeconfig === null ? null : await contextNamespace({ kubeconfig }).catch(() => null);
  return named === null ? [] : [named];
}
