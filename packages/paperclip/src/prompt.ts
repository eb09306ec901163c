import type { AgentConfig } from "./config.ts";
import type { ExecutionContext } from "./host.ts";

const DEFAULT_TEMPLATE = "You are agent {{agent.id}} ({{agent.name}}). Continue your Paperclip work.";

/** The text of one turn: the task the host wrote down, then the agent's own template. */
export function buildPrompt(ctx: ExecutionContext, config: AgentConfig): string {
  const task = ctx.context.paperclipTaskMarkdown;
  const template = config.promptTemplate ?? DEFAULT_TEMPLATE;
  const sections = [typeof task === "string" ? task.trim() : "", render(template, variables(ctx))];
  return sections.filter((section) => section !== "").join("\n\n");
}

function variables(ctx: ExecutionContext): Record<string, unknown> {
  return {
    agentId: ctx.agent.id,
    companyId: ctx.agent.companyId,
    runId: ctx.runId,
    company: { id: ctx.agent.companyId },
    agent: ctx.agent,
    run: { id: ctx.runId, source: ctx.context.source ?? "" },
    context: ctx.context,
  };
}

/** `{{a.b}}` becomes the value at that path; unknown ones become nothing. */
function render(template: string, data: Record<string, unknown>): string {
  return template.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, path: string) => {
    let value: unknown = data;
    for (const part of path.split("."))
      value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined;
    return value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  });
}
