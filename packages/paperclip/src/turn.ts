import type { AgentCli, CliPlan } from "./agent-cli.ts";
import type { AgentConfig } from "./config.ts";
import { buildEnv, type PodEnv } from "./environment/build-env.ts";
import { workingFolder } from "./environment/workspace.ts";
import type { ExecutionContext } from "./host.ts";
import type { Inherited } from "./inherit/inherited.ts";
import { stateFolder } from "./paths.ts";
import { type PreparedPrompt, preparePrompt } from "./prompting/prepare-prompt.ts";

/** What stays the same over the attempts of one run. */
export interface Wake {
  readonly ctx: ExecutionContext;
  readonly cli: AgentCli;
  readonly config: AgentConfig;
  readonly inherited: Inherited;
  readonly serverEnv: NodeJS.ProcessEnv;
  /** Where the CLI runs, in the pod and on the server. */
  readonly cwd: string;
}

/** One attempt, complete: everything its request is made of. */
export interface Turn extends Wake {
  readonly plan: CliPlan;
  readonly prompt: PreparedPrompt;
  readonly env: PodEnv;
  readonly sessionId: string | null;
  /** Folder on the shared volume for the CLI's sessions; null = they go with the pod. */
  readonly stateDir: string | null;
  /** 1, or 2 for the fresh attempt after an unknown session. */
  readonly attempt: number;
}

export function openWake(parts: Omit<Wake, "cwd">): Wake {
  return { ...parts, cwd: workingFolder(parts.ctx.context, parts.config) };
}

export async function prepareTurn(wake: Wake, start: { readonly sessionId: string | null; readonly attempt: number }): Promise<Turn> {
  const { ctx, cli, config, inherited, serverEnv, cwd } = wake;
  const stateDir = config.agentDbMode === "ephemeral" ? null : stateFolder(ctx, config, cli.container);
  const plan = cli.plan({ config, env: { ...inherited.env.literals, ...config.env }, sessionId: start.sessionId, stateDir });
  const prompt = await preparePrompt({ ctx, settings: config, sessionId: start.sessionId, cwd });
  const env = await buildEnv({ ctx, config, plan, serverEnv, inherited: inherited.env });
  return { ...wake, plan, prompt, env, stateDir, ...start };
}
