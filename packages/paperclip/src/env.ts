import type { CliPlan } from "./agent-cli.ts";
import type { AgentConfig } from "./config.ts";
import type { ExecutionContext } from "./host.ts";

export const HOME_MOUNT = "/agent/home";
export const TMP_MOUNT = "/agent/tmp";

/** Variables of the host that point into the server's own disk or home: meaningless or misleading in a pod. */
const HOST_ONLY = new Set([
  "PAPERCLIP_RUN_SCRATCH_DIR",
  "PAPERCLIP_TASK_SCRATCH_DIR",
  "PAPERCLIP_SCRATCH_DIR",
  "PAPERCLIP_TMPDIR",
  "GH_CONFIG_DIR",
  "PAPERCLIP_GITHUB_HOST_HOME",
  "PAPERCLIP_RUNNER_NETWORK_ROOTS",
  "PAPERCLIP_GIT_METADATA_ROOTS",
  "PAPERCLIP_RUNNER_NETWORK_ACCESS",
  "PAPERCLIP_GITHUB_AUTH_MODE",
  "PAPERCLIP_DEV_API_KEY",
]);

/** Private places of the run; nothing may override them. */
const FORCED: Readonly<Record<string, string>> = {
  HOME: HOME_MOUNT,
  XDG_CONFIG_HOME: `${HOME_MOUNT}/.config`,
  XDG_CACHE_HOME: `${HOME_MOUNT}/.cache`,
  XDG_STATE_HOME: `${HOME_MOUNT}/.local/state`,
  TMPDIR: TMP_MOUNT,
  TMP: TMP_MOUNT,
  TEMP: TMP_MOUNT,
};

/** The pod's environment in its layers: the host's facts, then the agent's settings, then the CLI's own, then what is forced. */
export function buildEnv(ctx: ExecutionContext, config: AgentConfig, plan: CliPlan, serverEnv: NodeJS.ProcessEnv) {
  const facts = hostFacts(ctx, config, serverEnv);
  const token: Record<string, string> = ctx.authToken === undefined ? {} : { PAPERCLIP_API_KEY: ctx.authToken };
  const own = Object.fromEntries(Object.entries(config.env).filter(([name]) => !HOST_ONLY.has(name)));
  const secret: Record<string, string> = { ...token, ...own, ...plan.secretEnv };
  const plain: Record<string, string> = { ...facts, ...plan.plainEnv, ...FORCED };
  for (const name of [...Object.keys(FORCED), ...Object.keys(plan.plainEnv), ...Object.keys(facts)]) delete secret[name];
  return { plain, secret, references: [] };
}

function hostFacts(ctx: ExecutionContext, config: AgentConfig, serverEnv: NodeJS.ProcessEnv): Record<string, string> {
  const facts: Record<string, unknown> = {
    PAPERCLIP_AGENT_ID: ctx.agent.id,
    PAPERCLIP_COMPANY_ID: ctx.agent.companyId,
    PAPERCLIP_RUN_ID: ctx.runId,
    PAPERCLIP_API_URL: config.env.PAPERCLIP_API_URL ?? serverEnv.PAPERCLIP_API_URL ?? serverEnv.PAPERCLIP_RUNTIME_API_URL,
    PAPERCLIP_TASK_ID: taskOf(ctx),
    PAPERCLIP_WAKE_REASON: ctx.context.wakeReason,
    PAPERCLIP_WAKE_COMMENT_ID: ctx.context.wakeCommentId ?? ctx.context.commentId,
  };
  return Object.fromEntries(
    Object.entries(facts).filter((entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== ""),
  );
}

/** The task is the host's task id, else its issue's. */
export function taskOf(ctx: ExecutionContext): string | null {
  for (const id of [ctx.context.taskId, ctx.context.issueId]) if (typeof id === "string" && id !== "") return id;
  return null;
}
