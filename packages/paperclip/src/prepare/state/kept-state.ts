import type { StateSpec } from "@paperclip-k8s/engine";
import type { CliState } from "../../agent-cli/agent-cli.ts";
import { recordOf, textOf } from "../../host/context-values.ts";
import { stateFolder } from "../../host/paths.ts";
import type { ExecutionContext } from "../../host/types.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import { sha256 } from "../../sha256.ts";
import type { RunParts } from "../attempt.ts";
import { taskOf } from "../environment/facts.ts";
import { HOME_MOUNT } from "../environment/mounts.ts";
import { type EarlierState, mayBeUnsigned, stateKeyOf } from "../session.ts";
import { type AgentClaim, agentClaim, isModeUnset, trimmed } from "./agent-claim.ts";

/** Where a run's session is after its end; `env` makes the CLI keep it there. */
export type KeptState =
  /** Carried in and out on the shared volume, one folder per agent and task. */
  | {
      readonly mode: "portable";
      /** Which of the task's states, where it has several; null = the usual one. */
      readonly key: string | null;
      readonly spec: StateSpec;
      readonly env: Readonly<Record<string, string>>;
      /** Set where the session is one of an adapter before this one. */
      readonly earlier?: EarlierState;
    }
  /** On a claim of the agent's own, whose runs take turns. */
  | ({ readonly mode: "dedicated_pvc" } & AgentClaim)
  /** In a place of the user's own choice, which outlives the pod by itself. */
  | { readonly mode: "own" }
  /** It goes with the pod. */
  | { readonly mode: "ephemeral" };

/** More than any session seen so far. */
const MAX_BYTES = 1024 ** 3;
/** Without a byte from the volume for this long, restoring is given up. */
const RESTORE_SEC = 60;
/** As long as the volume is waited for at the end; a pod that is being deleted has less. */
const SAVE_SEC = 240;

export function keptState({ ctx, cli, config }: Pick<RunParts, "ctx" | "cli" | "config">): KeptState {
  const { state } = cli;
  if (state === undefined || config.agentDbMode === "ephemeral") return { mode: "ephemeral" };
  if (state.isElsewhere?.(config) === true) return { mode: "own" };
  if ((config.agentDbMode === "dedicated_pvc" || staysOnClaim(ctx)) && state.claim !== undefined)
    return { mode: "dedicated_pvc", ...agentClaim(state.claim, { agent: ctx.agent, cli, config }) };
  return portable({ ctx, cli, config }, state, stateKeyOf(ctx.runtime));
}

/** A session that another adapter made has a state of its own, so that neither it nor one of ours is taken for the other. */
export function portable(
  { ctx, cli, config }: Pick<RunParts, "ctx" | "cli" | "config">,
  state: CliState,
  key: string | null,
): Extract<KeptState, { mode: "portable" }> {
  const task = key === null ? taskPart(ctx) : `${taskPart(ctx)}-${key}`;
  const saved = stateFolder(ctx, config, cli.container, task);
  return {
    mode: "portable",
    key,
    spec: { ...stateSpec(saved, state, config), acceptUnsigned: mayBeUnsigned(ctx.runtime) },
    env: state.env?.(HOME_MOUNT) ?? {},
  };
}

/** While no mode is chosen, a session that is on the agent's claim stays there. */
const staysOnClaim = (ctx: ExecutionContext): boolean =>
  isModeUnset(ctx) && recordOf(ctx.runtime.sessionParams).stateMode === "dedicated_pvc";

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

const SAFE = /^[A-Za-z0-9-]{1,100}$/;

/** The conversation a run belongs to, as a part of a path and of a Job's name: the host's key for it, else the task. */
export function taskPart(ctx: Pick<ExecutionContext, "runtime" | "context">): string {
  const key = textOf(ctx.runtime.taskKey) ?? taskOf(ctx) ?? "no-task";
  if (SAFE.test(key)) return key;
  const sum = sha256(key).slice(0, 12);
  const slug = trimmed(key.replace(/[^A-Za-z0-9]+/g, "-"), 40);
  return slug === "" ? sum : `${slug}-${sum}`;
}
