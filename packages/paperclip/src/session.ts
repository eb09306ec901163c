import { resolve } from "node:path";
import { recordOf, textOf } from "./environment/context-values.ts";
import type { Workspace } from "./environment/workspace.ts";
import type { ExecutionContext, HostRuntime, SessionCodec } from "./host.ts";

/** Names under which other adapters of the host store the same id. */
const ID_NAMES = ["sessionId", "session_id", "sessionID"];

/** Keys that `sessionParamsOut` writes. */
export const SESSION_KEYS = ["sessionId", "cwd", "podCwd", "workspaceId", "repoUrl", "repoRef"] as const;

/** Session of a run as it comes in: the params' id, else the runtime's. */
export function incomingSession(ctx: Pick<ExecutionContext, "runtime">): string | null {
  return idOf(ctx.runtime.sessionParams) ?? textOf(ctx.runtime.sessionId);
}

export interface SessionChoice {
  /** Null = a fresh one. */
  readonly sessionId: string | null;
  /** Why a session that came in is not resumed. */
  readonly note: string | null;
}

/** The host's rule: a session is resumed in the folder it was made in, or where no folder was noted. */
export function chooseSession(runtime: HostRuntime, podCwd: string): SessionChoice {
  const sessionId = incomingSession({ runtime });
  const params = recordOf(runtime.sessionParams);
  // The host may rewrite `cwd`, which is a folder of its own; the pod's is what the CLI knew.
  const made = textOf(params.podCwd) ?? textOf(params.cwd);
  if (sessionId === null || made === null || resolve(made) === resolve(podCwd)) return { sessionId, note: null };
  return { sessionId: null, note: `session ${sessionId} was made in ${made} and is not resumed in ${podCwd}; starting a fresh one` };
}

export interface SessionOut {
  readonly sessionId: string | null;
  /** The params that the run was given. */
  readonly previous: Readonly<Record<string, unknown>> | null;
  /** Folder on the server; the host looks for it there. */
  readonly cwd: string;
  readonly podCwd: string;
  readonly workspace: Pick<Workspace, "id" | "repoUrl" | "repoRef">;
}

/** What the next run of this task is given; null = no session. */
export function sessionParamsOut(out: SessionOut): Record<string, unknown> | null {
  if (out.sessionId === null) return null;
  const { workspace } = out;
  // What other versions noted belongs to their session, not to a new one.
  const kept = idOf(out.previous) === out.sessionId ? Object.entries(out.previous ?? {}) : [];
  const others = kept.filter(([key]) => !(SESSION_KEYS as readonly string[]).includes(key) && !ID_NAMES.includes(key));
  return {
    ...Object.fromEntries(others),
    sessionId: out.sessionId,
    cwd: out.cwd,
    ...(out.podCwd === out.cwd ? {} : { podCwd: out.podCwd }),
    ...(workspace.id === null ? {} : { workspaceId: workspace.id }),
    ...(workspace.repoUrl === null ? {} : { repoUrl: workspace.repoUrl }),
    ...(workspace.repoRef === null ? {} : { repoRef: workspace.repoRef }),
  };
}

/** Keeps every key it is given: what one version wrote, the next must find. */
export const sessionCodec: SessionCodec = {
  deserialize: (raw) => paramsOf(raw),
  serialize: (params) => paramsOf(params),
  getDisplayId: (params) => idOf(params),
};

function paramsOf(value: unknown): Record<string, unknown> | null {
  const sessionId = idOf(value);
  return sessionId === null ? null : { ...recordOf(value), sessionId };
}

function idOf(value: unknown): string | null {
  const params = recordOf(value);
  return ID_NAMES.map((name) => textOf(params[name])).find((id) => id !== null) ?? null;
}
