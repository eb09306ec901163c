import { findOwnPod } from "@paperclip-k8s/engine";
import type { AgentCli } from "../../agent-cli/agent-cli.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import { SERVER_CONTAINER_NAMES } from "../../settings/fields/cluster.ts";
import { inheritFrom } from "./inherit-from.ts";
import type { Inherited } from "./inherited.ts";

/** Image, namespace, volume and the rest, from the pod this server runs in, where the settings do not say otherwise. */
export async function inherit(cli: AgentCli, config: AgentConfig, serverEnv: NodeJS.ProcessEnv): Promise<Inherited> {
  const containers = config.serverContainer === null ? SERVER_CONTAINER_NAMES : [config.serverContainer];
  const found = await findOwnPod({ kubeconfig: config.kubeconfig }, { env: serverEnv, containers });
  return inheritFrom(found.pod, config, { env: serverEnv, variables: cli.variables, ...(found.pod === null ? { noPod: found.why } : {}) });
}
