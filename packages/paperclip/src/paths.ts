import { checkedPart } from "@paperclip-k8s/engine";
import type { AgentConfig } from "./config.ts";
import type { ExecutionContext } from "./host.ts";

/** The output file of a run, where the host keeps its run logs. */
export function outputPath(ctx: ExecutionContext, config: AgentConfig, attempt: number): string {
  const run = checkedPart("runId", ctx.runId);
  const file = attempt === 1 ? run : `${run}-${attempt}`;
  return `${agentFolder(ctx, config, "run-logs")}/${file}.pod.ndjson`;
}

/** The CLI's sessions of one agent, kept between its runs. */
export function stateFolder(ctx: ExecutionContext, config: AgentConfig, container: string): string {
  return `${agentFolder(ctx, config, "agent-state")}/${container}`;
}

function agentFolder(ctx: ExecutionContext, config: AgentConfig, kind: string): string {
  const instance = checkedPart("PAPERCLIP_INSTANCE_ID", config.instanceId);
  const company = checkedPart("agent.companyId", ctx.agent.companyId);
  return `${config.dataPath}/instances/${instance}/data/${kind}/${company}/${checkedPart("agent.id", ctx.agent.id)}`;
}
