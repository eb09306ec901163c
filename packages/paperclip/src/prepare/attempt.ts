import type { SeedSpec } from "@paperclip-k8s/engine";
import type { AgentCli, CliPlan, PromptBundle, RunEnvironment } from "../agent-cli/agent-cli.ts";
import { type McpAccess, mcpAccess } from "../host/mcp-servers.ts";
import type { ExecutionContext } from "../host/types.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { prepareBundle } from "./bundle/prompt-bundle.ts";
import { apiUrlOf, buildEnv, type PodEnv } from "./environment/build-env.ts";
import { workingFolder } from "./environment/workspace.ts";
import type { Inherited } from "./inherit/inherited.ts";
import { type PreparedPrompt, preparePrompt } from "./prompt/prepare-prompt.ts";
import type { SessionGround } from "./session.ts";
import { findSeeds } from "./state/find-seeds.ts";
import { type KeptState, keptState, stateEnv } from "./state/kept-state.ts";

/** What stays the same over the attempts of one run. */
export interface Wake {
  readonly ctx: ExecutionContext;
  readonly cli: AgentCli;
  readonly config: AgentConfig;
  readonly inherited: Inherited;
  readonly serverEnv: NodeJS.ProcessEnv;
  /** Where the CLI runs, in the pod and on the server. */
  readonly cwd: string;
  /** Null = instructions and skills are part of the prompt. */
  readonly bundle: PromptBundle | null;
  readonly mcp: McpAccess;
  /** What becomes of the CLI's session at the end of the run. */
  readonly state: KeptState;
  /** Logins and settings that the private home begins with. */
  readonly seed: SeedSpec | null;
}

/** How one attempt begins. */
export interface Start {
  /** The session it resumes; null = a fresh one. */
  readonly sessionId: string | null;
  /** 1, or more after an attempt that had to be made anew. */
  readonly attempt: number;
  /** Options that the CLI in the image does not know. */
  readonly without: readonly string[];
  /** The pod of the attempt before could not write to the agent's claim. */
  readonly setOwnership?: boolean;
}

/** One attempt, complete: everything its request is made of. */
export interface Turn extends Wake, Start {
  readonly plan: CliPlan;
  readonly prompt: PreparedPrompt;
  readonly env: PodEnv;
}

export async function openWake(parts: Omit<Wake, "cwd" | "bundle" | "mcp" | "state" | "seed">): Promise<Wake> {
  const { ctx, cli, config, serverEnv } = parts;
  const cwd = workingFolder(ctx.context, config);
  const bundle = cli.bundle === undefined ? null : await prepareBundle({ ctx, config, cwd, layout: cli.bundle });
  const state = keptState({ ctx, cli, config });
  const seed = await findSeeds(config.dataPath, cli.state?.seeds ?? []);
  return { ...parts, cwd, bundle, mcp: mcpAccess(ctx, apiUrlOf(config.env, serverEnv)), state, seed };
}

export async function prepareTurn(wake: Wake, start: Start): Promise<Turn> {
  const { ctx, cli, config, inherited, serverEnv, cwd, bundle, state } = wake;
  const plan = cli.plan({
    ...start,
    config,
    agentId: ctx.agent.id,
    env: environmentOf(wake),
    bundle,
    mcpServers: wake.mcp.servers,
  });
  const prompt = await preparePrompt({ ctx, settings: config, sessionId: start.sessionId, cwd, bundle });
  const env = await buildEnv({ ctx, config, plan, serverEnv, inherited: inherited.env, forced: stateEnv(state) });
  return { ...wake, ...start, plan, prompt, env };
}

/** What the run's session rests on. */
export function groundOf({ cli, cwd, bundle, mcp, state }: Wake): SessionGround {
  const mcpIdentity = cli.usesMcpServers ? mcp.identity : null;
  return { podCwd: cwd, stateMode: state.mode, idPattern: cli.sessionId ?? null, bundleKey: bundle?.key ?? null, mcpIdentity };
}

/** What a run will find in its environment, before its CLI adds to it. */
export function environmentOf({ config, inherited }: Pick<Wake, "config" | "inherited">): RunEnvironment {
  const values = { ...inherited.env.literals, ...config.env };
  return { values, names: new Set([...Object.keys(values), ...inherited.env.references.map(({ name }) => name)]) };
}
