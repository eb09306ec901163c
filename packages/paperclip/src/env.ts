import type { CliPlan } from "./agent-cli.ts";
import type { AgentConfig } from "./config.ts";
import { layerEnv } from "./environment/build-env.ts";
import type { ExecutionContext } from "./host.ts";

export { taskOf } from "./environment/facts.ts";
export { HOME_MOUNT, TMP_MOUNT } from "./environment/mounts.ts";

/** Until callers await `buildEnv` of environment/build-env.ts: the same without what the host's library reads out of the wake. */
export function buildEnv(ctx: ExecutionContext, config: AgentConfig, plan: CliPlan, serverEnv: NodeJS.ProcessEnv) {
  const { plain, secret, references } = layerEnv({ ctx, config, plan, serverEnv }, { payloadJson: null, workMode: null });
  return { plain, secret, references };
}
