import type { AgentCli, CliPlan, PromptBundle, RunEnvironment } from "../agent-cli/agent-cli.ts";
import { isBelow } from "../host/context-values.ts";
import { issueOf } from "../host/issue.ts";
import { type McpAccess, mcpAccess } from "../host/mcp-servers.ts";
import { agentHome } from "../host/paths.ts";
import { recordSecret } from "../host/record-secret.ts";
import { runtimeToolsEnv } from "../host/runtime-tools.ts";
import type { ExecutionContext } from "../host/types.ts";
import type { Policy } from "../policy/policy.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { prepareBundle } from "./bundle/prompt-bundle.ts";
import { apiUrlOf, buildEnv, type PodEnv } from "./environment/build-env.ts";
import { type GitHubAccess, githubAccess } from "./environment/github.ts";
import { workingFolder } from "./environment/workspace.ts";
import type { Inherited } from "./inherit/inherited.ts";
import type { JobPlace } from "./job-place.ts";
import { type PreparedPrompt, preparePrompt } from "./prompt/prepare-prompt.ts";
import { findScope, homeInPod, isMounted, type VolumeScope } from "./scope/scope.ts";
import { findSeeds, type Seeds } from "./state/find-seeds.ts";
import { type KeptState, keptState } from "./state/kept-state.ts";
import type { ToolsReason } from "./tools/choice.ts";

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
  /** Why Node and CLI come from the tools image; null = the image has its own. */
  readonly tools: ToolsReason | null;
  /** Where the Job is that this attempt adopts, because the settings have changed since; null = in the place of the settings. */
  readonly place: JobPlace | null;
}

/** One start of the CLI in a Job, with everything its request is made of. */
export interface Attempt extends AttemptStart {
  readonly inputs: RunInputs;
  readonly plan: CliPlan;
  readonly prompt: PreparedPrompt;
  readonly env: PodEnv;
  /** Null = the host does not manage the run's git. */
  readonly github: GitHubAccess | null;
}

export const firstStart = (sessionId: string | null, tools: ToolsReason | null, place: JobPlace | null = null): AttemptStart => ({
  number: 1,
  sessionId,
  without: [],
  setOwnership: false,
  tools,
  place,
});

export async function gatherInputs(parts: RunParts, state: KeptState = keptState(parts)): Promise<RunInputs> {
  const { ctx, cli, config, serverEnv } = parts;
  const cwd = workingFolder(parts);
  // None needs another's result, and each waits for the volume.
  const [bundle, seeds, secret] = await allOrFirst([
    cli.bundle === undefined ? null : prepareBundle({ ...parts, cwd }, cli.bundle),
    findSeeds(parts),
    recordSecret(serverEnv, config),
  ]);
  const scope = await findScope({ ...parts, cwd, bundle, state, seeds });
  const mcp = mcpAccess(ctx, apiUrlOf(config.env, serverEnv));
  return { ...parts, cwd, bundle, mcp, state, scope, seeds, recordSecret: secret };
}

/** Waits for all: what is still under way after a failure would go on behind the caller's back. Of several failures the first in their order counts. */
async function allOrFirst<T extends readonly unknown[]>(steps: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(steps);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as { -readonly [K in keyof T]: Awaited<T[K]> };
}

export async function prepareAttempt(all: RunInputs, start: AttemptStart): Promise<Attempt> {
  const inputs = start.place === null ? all : movedTo(all, start.place);
  const { ctx, cli, config, serverEnv, cwd, bundle, state, scope } = inputs;
  const { sessionId, without } = start;
  const { removed } = cli.variables;
  const inherited = inputs.inherited.env;
  const env = environmentOf(inputs);
  const { mountPath } = inputs.inherited.claim;
  const isThere = (path: string): boolean => isMounted(scope.mounts, path) && isBelow(path, mountPath);
  const { policy } = inputs;
  const prompt = await preparePrompt({ ctx, settings: config, policy, sessionId, cwd, mountPath, bundle, isMounted: isThere });
  const turn = { config, agentId: ctx.agent.id, env, sessionId, bundle, mcpServers: inputs.mcp.servers, without };
  const about = { title: issueOf(ctx).title, promptBytes: Buffer.byteLength(prompt.text), maybeSet: maybeSet(inputs) };
  const plan = await cli.plan({ ...turn, ...about });
  const forced = "env" in state ? state.env : {};
  const secretEnv = { ...plan.secretEnv, ...toolsEnv(inputs) };
  const home = (given: string): string => homeInPod(scope, mountPath, given, agentHome(ctx, config));
  const places = { isMounted: isThere, homeInPod: home };
  const podEnv = await buildEnv({ ctx, config, plan: { ...plan, secretEnv }, removed, serverEnv, inherited, ...places, forced });
  return { ...start, inputs, plan, prompt, env: podEnv, github: await githubAccess(config.env) };
}

const movedTo = (inputs: RunInputs, { namespace, kubeconfig }: JobPlace): RunInputs => ({
  ...inputs,
  config: { ...inputs.config, kubeconfig },
  inherited: { ...inputs.inherited, namespace },
});

/** The host's connections, for a type whose runs get them as variables. */
function toolsEnv({ ctx, cli, config, serverEnv }: RunInputs): Record<string, string> {
  const isWanted = cli.inPlace !== undefined && cli.builtIn?.runtimeToolDelivery === "environment";
  return isWanted && ctx.runtimeTools ? runtimeToolsEnv(ctx.runtimeTools, apiUrlOf(config.env, serverEnv)) : {};
}

/** The server's own pod has what it takes over whole, so that the server knows the names. */
const maybeSet = ({ inherited, serverEnv }: RunInputs): ReadonlySet<string> =>
  new Set(inherited.env.from.length === 0 ? [] : Object.keys(serverEnv));

/** What a run will find in its environment, before its CLI adds to it. */
export function environmentOf({ config, inherited }: Pick<RunInputs, "config" | "inherited">): RunEnvironment {
  const values = { ...inherited.env.literals, ...config.env };
  const known = Object.keys(values).filter((name) => values[name] !== "");
  const references = inherited.env.references.map(({ name }) => name).filter((name) => values[name] === undefined);
  return { values, names: new Set([...known, ...references]) };
}
