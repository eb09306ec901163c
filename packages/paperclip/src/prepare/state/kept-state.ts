import type { StateSpec } from "@paperclip-k8s/engine";
import type { AgentCli, CliState } from "../../agent-cli/agent-cli.ts";
import { stateFolder } from "../../host/paths.ts";
import type { ExecutionContext } from "../../host/types.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import { HOME_MOUNT } from "../environment/mounts.ts";
import { type AgentClaim, agentClaim } from "./agent-claim.ts";
import { taskPart } from "./task-part.ts";

/** Where a run's session is after its end. */
export type KeptState =
  /** Carried in and out on the shared volume, one folder per agent and task. */
  | { readonly mode: "portable"; readonly spec: StateSpec; readonly env: Readonly<Record<string, string>> }
  /** On a claim of the agent's own, whose runs take turns. */
  | { readonly mode: "dedicated_pvc"; readonly claim: AgentClaim }
  /** In a place of the user's own choice, which outlives the pod by itself. */
  | { readonly mode: "own" }
  /** It goes with the pod. */
  | { readonly mode: "ephemeral" };

/** More than any session seen; what is larger would fill the volume rather than serve the next turn. */
const MAX_BYTES = 1024 ** 3;
/** A volume that gives nothing for a minute is in trouble; one that is only slow is waited for. */
const RESTORE_SEC = 60;
/** At the time limit; a pod that is told to stop has less. */
const SAVE_SEC = 30;

export interface KeptStateInput {
  readonly ctx: ExecutionContext;
  readonly cli: AgentCli;
  readonly config: AgentConfig;
}

export function keptState({ ctx, cli, config }: KeptStateInput): KeptState {
  const { state, container } = cli;
  if (state === undefined || config.agentDbMode === "ephemeral") return { mode: "ephemeral" };
  if (state.isElsewhere?.(config) === true) return { mode: "own" };
  if (config.agentDbMode === "dedicated_pvc" && state.claim !== undefined)
    return { mode: "dedicated_pvc", claim: agentClaim(state.claim, { agent: ctx.agent, cli, config }) };
  const saved = stateFolder(ctx, config, { container, task: taskPart(ctx) });
  return { mode: "portable", spec: stateSpec(saved, state, config), env: state.env?.(HOME_MOUNT) ?? {} };
}

/** What has the CLI keep its sessions where this mode has them. */
export function stateEnv(state: KeptState): Readonly<Record<string, string>> {
  if (state.mode === "portable") return state.env;
  return state.mode === "dedicated_pvc" ? state.claim.env : {};
}

function stateSpec(saved: string, state: CliState, config: AgentConfig): StateSpec {
  return {
    saved,
    home: "$HOME",
    parts: state.parts,
    version: state.version(config.command),
    intervalSec: config.stateSaveIntervalSec,
    maxBytes: MAX_BYTES,
    restoreSec: RESTORE_SEC,
    saveSec: SAVE_SEC,
  };
}
