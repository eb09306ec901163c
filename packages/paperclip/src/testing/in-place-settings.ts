import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { inPlaceOf } from "../built-in/in-place.ts";
import { checkedConfig } from "../prepare/agent-config.ts";

/** Reads settings of the built-in type as a run does, at a host of today. */
export function inPlaceSettings(cli: AgentCli) {
  return (
    raw: Readonly<Record<string, unknown>>,
    host: { readonly hasDefaultModel?: boolean } = { hasDefaultModel: true },
    serverEnv: NodeJS.ProcessEnv = {},
  ) => checkedConfig(inPlaceOf(cli), raw, serverEnv, host);
}
