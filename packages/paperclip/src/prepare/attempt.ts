import type { AgentCli, CliPlan, PromptBundle, RunEnvironment } from "../agent-cli/agent-cli.ts";
import { isBelow } from "../host/context-values.ts";
import { type McpAccess, mcpAccess } from "../host/mcp-servers.ts";
import { recordSecret } from "../host/record-secret.ts";
import type { ExecutionContext } from "../host/types.ts";
import type { Policy } from "../policy/policy.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { prepareBundle } from "./bundle/prompt-bundle.ts";
import { apiUrlOf, buildEnv, type PodEnv } from "./environment/build-env.ts";
import { workingFolder } from "./environment/workspace.ts";
import type { Inherited } from "./inherit/inherited.ts";
import { type PreparedPrompt, preparePrompt } from "./prompt/prepare-prompt.ts";
import { findScope, isMounted, type VolumeScope } from "./scope/scope.ts";
import { findSeeds, type Seeds } from "./state/find-seeds.ts";
import { type KeptState, keptState } from "./state/kept-state.ts";

/** What a run is given. */
export interface RunParts {
  readonly ctx: ExecutionContext;
  readonly cli: AgentCli;
  readonly config: AgentConfig;
  readonly inherited: Inherited;
  readonly serverEnv: NodeJS.ProcessEnv;
  /** What the operator lets agents use. */
  readonly policy: Policy;
}

/** What all attempts of one run have in common. */
export interface RunInputs extends RunParts {
  /** Where the CLI runs, in the pod and on the server. */
  readonly cwd: string;
  /** Null = instructions and skills are part of the prompt. */
  readonly bundle: PromptBundle | null;
  readonly mcp: McpAccess;
  /** What becomes of the CLI's session at the end of the run. */
  readonly state: KeptState;
  /** What its pod has of the shared volume. */
  readonly scope: VolumeScope;
  /** Logins and settings that the private home begins with. */
  readonly seeds: Seeds;
  /** From which the keys of the run's records are derived. */
  readonly recordSecret: Uint8Array;
}

/** What one attempt of a run starts with. */
export interface AttemptStart {
  /** Counted from 1. */
  readonly number: number;
  /** The session it resumes; null = a fresh one. */
  readonly sessionId: string | null;
  /** Options that the CLI in the image was found not to know. */
  readonly without: readonly string[];
  /** Whether the agent's claim is given to the pod's user first, because an earlier pod could not write to it. */
  readonly setOwnership: boolean;
}

/** One start of the CLI in a Job, with everything its request is made of. */
export interface Attempt extends AttemptStart {
  readonly inputs: RunInputs;
  readonly plan: CliPlan;
  readonly prompt: PreparedPrompt;
  readonly env: PodEnv;
}

export const firstStart = (sessionId: string | null): AttemptStart => ({ number: 1, sessionId, without: [], setOwnership: false });

export async function gatherInputs(parts: RunParts, state: KeptState = keptState(parts)): Promise<RunInputs> {
  const { ctx, cli, config, serverEnv } = parts;
  const cwd = workingFolder(parts);
  const bundle = cli.bundle === undefined ? null : await prepareBundle({ ...parts, cwd }, cli.bundle);
  const seeds = await findSeeds(parts);
  const scope = await findScope({ ...parts, cwd, bundle, state, seeds });
  const mcp = mcpAccess(ctx, apiUrlOf(config.env, serverEnv));
  return { ...parts, cwd, bundle, mcp, state, scope, seeds, recordSecret: await recordSecret(serverEnv, config) };
}

export async function prepareAttempt(inputs: RunInputs, start: AttemptStart): Promise<Attempt> {
  const { ctx, cli, config, serverEnv, cwd, bundle, state, scope } = inputs;
  const { sessionId, without } = start;
  const { removed } = cli.variables;
  const inherited = inputs.inherited.env;
  const env = environmentOf(inputs);
  const plan = cli.plan({ config, agentId: ctx.agent.id, env, sessionId, bundle, mcpServers: inputs.mcp.servers, without });
  const { mountPath } = inputs.inherited.claim;
  const isThere = (path: string): boolean => isMounted(scope.mounts, path) && isBelow(path, mountPath);
  const { policy } = inputs;
  const prompt = await preparePrompt({ ctx, settings: config, policy, sessionId, cwd, mountPath, bundle, isMounted: isThere });
  const forced = "env" in state ? state.env : {};
  const podEnv = await buildEnv({ ctx, config, plan, removed, serverEnv, inherited, isMounted: isThere, forced });
  return { ...start, inputs, plan, prompt, env: podEnv };
}

/** What a run will find in its environment, before its CLI adds to it. */
export function environmentOf({ config, inherited }: Pick<RunInputs, "config" | "inherited">): RunEnvironment {
  const values = { ...inherited.env.literals, ...config.env };
  return { values, names: new Set([...Object.keys(values), ...inherited.env.references.map(({ name }) => name)]) };
}
