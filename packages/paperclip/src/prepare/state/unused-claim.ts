import { findClaim } from "@paperclip-k8s/engine";
import type { AgentCli } from "../../agent-cli/agent-cli.ts";
import type { ExecutionContext } from "../../host/types.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import type { Inherited } from "../inherit/inherited.ts";
import { claimName } from "./agent-claim.ts";

export interface UnusedClaimInput {
  readonly ctx: ExecutionContext;
  readonly cli: AgentCli;
  readonly config: AgentConfig;
  readonly inherited: Pick<Inherited, "namespace">;
}

const asked = new Set<string>();

/**
 * A claim of the agent's own used to be the default: whoever has not chosen a mode since is told that it is there.
 * Looked for once per agent and process; null = there is none, or nobody can tell.
 */
export async function unusedClaim({ ctx, cli, config, inherited }: UnusedClaimInput): Promise<string | null> {
  const claim = cli.state?.claim;
  const chosen = ctx.config.agentDbMode;
  if (claim === undefined || (chosen !== undefined && chosen !== null && chosen !== "")) return null;
  const name = claimName(claim.prefix, ctx.agent.id);
  const key = `${config.kubeconfig}/${inherited.namespace}/${name}`;
  if (asked.has(key)) return null;
  asked.add(key);
  const found = await findClaim({ kubeconfig: config.kubeconfig }, inherited.namespace, name).catch(() => null);
  if (found === null) return null;
  const keep = "set agentDbMode to dedicated_pvc to go on with it, or to portable to leave it for good";
  return `claim ${inherited.namespace}/${name} holds sessions of this agent and is not used now that agentDbMode is not set: ${keep}`;
}
