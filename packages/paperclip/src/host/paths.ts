import { checkedPart } from "@paperclip-k8s/engine";
import type { AgentConfig } from "../settings/agent-config.ts";
import type { ExecutionContext } from "./types.ts";

/** The output file of a run, where the host keeps its run logs. */
export function outputPath(ctx: ExecutionContext, config: AgentConfig, attempt: number): string {
  const run = checkedPart("runId", ctx.runId);
  const file = attempt === 1 ? run : `${run}-${attempt}`;
  return `${agentFolder(ctx, config, "run-logs")}/${file}.pod.ndjson`;
}

/** The saved session of one task of an agent. */
export function stateFolder(
  ctx: ExecutionContext,
  config: AgentConfig,
  { container, task }: { readonly container: string; readonly task: string },
): string {
  return `${agentFolder(ctx, config, "agent-state")}/${container}/${checkedPart("task", task)}`;
}

/** Instructions and skills of one company's agents, each in a folder named by its content. */
export function bundlesFolder(ctx: ExecutionContext, config: AgentConfig): string {
  return companyFolder(ctx, config, "prompt-bundles");
}

/** Begins the names of bundles that are being written or removed. */
export const UNFINISHED_BUNDLE = ".part-";

function agentFolder(ctx: ExecutionContext, config: AgentConfig, kind: string): string {
  return `${companyFolder(ctx, config, kind)}/${checkedPart("agent.id", ctx.agent.id)}`;
}

function companyFolder(ctx: ExecutionContext, config: AgentConfig, kind: string): string {
  const instance = checkedPart("PAPERCLIP_INSTANCE_ID", config.instanceId);
  return `${config.dataPath}/instances/${instance}/data/${kind}/${checkedPart("agent.companyId", ctx.agent.companyId)}`;
}
