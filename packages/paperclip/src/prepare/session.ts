import { resolve } from "node:path";
import { recordOf, textOf } from "../host/context-values.ts";
import type { ExecutionContext, HostRuntime, SessionCodec } from "../host/types.ts";
import type { Workspace } from "./environment/workspace.ts";

/** Names under which other adapters of the host store the same id. */
const ID_NAMES = ["sessionId", "session_id", "sessionID", "acpSessionId"];
const SIGNED = "stateSigned";
const STATE_KEY = "stateKey";

/** Session of a run as it comes in: the params' id, else the runtime's. */
export function incomingSession(ctx: Pick<ExecutionContext, "runtime">): string | null {
  return idOf(ctx.runtime.sessionParams) ?? textOf(ctx.runtime.sessionId);
}

/**
 * The session that comes in, if an adapter before this one made it; null = it is this one's, or there is none. This adapter notes with every session
 * where it is kept, so an agent that makes its CLI report another's session id gains nothing by it.
 */
export function earlierSession({ sessionParams }: HostRuntime): string | null {
  return textOf(recordOf(sessionParams).stateMode) === null ? idOf(sessionParams) : null;
}

export interface SessionChoice {
  /** Null = a fresh one. */
  readonly sessionId: string | null;
  /** Why a session that came in is not resumed. */
  readonly note: string | null;
}

/** What a run must have in common with the one that made its session in order to resume it. */
export interface ResumeFingerprint {
  readonly podCwd: string;
  /** Where sessions are kept; `ephemeral` = nowhere. */
  readonly stateMode?: string;
  /** Which of the task's saved states it is; null = the usual one. */
  readonly stateKey?: string | null;
  /** What an id of this CLI looks like; null = like anything. */
  readonly idPattern?: RegExp | null;
  /** Key of the bundle that holds instructions and skills; null = they are in the prompt. */
  readonly bundleKey?: string | null;
  /** The host's tool servers; null = the CLI gets none. */
  readonly mcpIdentity?: string | null;
  /** Digest of the host's instructions for connections; null = there were none. */
  readonly connectionsDigest?: string | null;
  /** What became of the session of an adapter before this one; null = there was none to be imported. */
  readonly earlier?: EarlierState | null;
}

/** A session of an adapter before this one. */
export interface EarlierState {
  /** Why it cannot go on; null = its files are where the CLI looks for them. */
  readonly lost: string | null;
}

/** Which of its task's saved states a session is in; null = the usual one. */
export function stateKeyOf({ sessionParams }: HostRuntime): string | null {
  const key = textOf(recordOf(sessionParams)[STATE_KEY]);
  return key !== null && /^[0-9a-f]{12}$/.test(key) ? key : null;
}

/**
 * Whether a saved state without a signature may be this session's: an earlier version left it. The host keeps what is noted here, so that
 * nobody can make a state look like an earlier version's by leaving its signature out.
 */
export function mayBeUnsigned(runtime: HostRuntime): boolean {
  return incomingSession({ runtime }) !== null && recordOf(runtime.sessionParams)[SIGNED] !== true;
}

/** The host's rule: a session is resumed if its fingerprint matches. What was not noted is not compared, except for tool servers and connections. */
export function chooseSession(runtime: HostRuntime, wanted: ResumeFingerprint): SessionChoice {
  const sessionId = incomingSession({ runtime });
  if (sessionId === null) return { sessionId, note: null };
  const why = mismatch(sessionId, recordOf(runtime.sessionParams), wanted);
  return why === null ? { sessionId, note: null } : { sessionId: null, note: `session ${sessionId} ${why}; starting a fresh one` };
}

function mismatch(sessionId: string, params: Readonly<Record<string, unknown>>, wanted: ResumeFingerprint): string | null {
  const { podCwd, stateMode = null, idPattern = null, bundleKey = null, mcpIdentity = null, connectionsDigest = null } = wanted;
  if (stateMode === "ephemeral") return "is not resumed: this agent's sessions are not kept (agentDbMode is ephemeral)";
  const keptIn = textOf(params.stateMode);
  if (stateMode !== null && keptIn !== null && keptIn !== stateMode)
    return `was kept ${placeOf(keptIn)} and is not looked for ${placeOf(stateMode)}`;
  if (idPattern !== null && !idPattern.test(sessionId)) return "is not an id of this CLI and is not resumed";
  const earlier = keptIn === null ? (wanted.earlier ?? null) : null;
  if (earlier?.lost != null) return `of another adapter cannot be taken over (${earlier.lost})`;
  // The other adapters' notes about folders, instructions and tool servers are not ours.
  if (earlier !== null) return null;
  // The host may rewrite `cwd`, which is a folder of its own; the pod's is what the CLI knew.
  const made = textOf(params.podCwd) ?? textOf(params.cwd);
  if (made !== null && resolve(made) !== resolve(podCwd)) return `was made in ${made} and is not resumed in ${podCwd}`;
  const bundle = textOf(params.promptBundleKey);
  if (bundleKey !== null && bundle !== null && bundle !== bundleKey)
    return "was made with other instructions or skills and is not resumed with today's";
  if (mcpIdentity !== null && (textOf(params.mcpServerIdentity) ?? "") !== mcpIdentity)
    return "was made with other tool servers of the host and is not resumed with today's";
  // Their removal counts too: the conversation would still have them.
  if (textOf(params.connectionsDigest) !== connectionsDigest)
    return "was made with other instructions for connections and is not resumed with today's";
  return null;
}

/** In words that hold for every CLI: not each has a setting for it. */
const PLACES: Readonly<Record<string, string>> = {
  portable: "on the shared volume",
  dedicated_pvc: "on the agent's own claim (agentDbMode dedicated_pvc)",
  own: "in a folder that the agent's env names",
};
const placeOf = (mode: string): string => PLACES[mode] ?? `in mode ${mode}`;

interface SessionOut {
  readonly sessionId: string | null;
  /** The params that the run was given. */
  readonly previous: Readonly<Record<string, unknown>> | null;
  /** Folder on the server; the host looks for it there. */
  readonly cwd: string;
  /** Null = not known. */
  readonly fingerprint: ResumeFingerprint | null;
  readonly workspace: Pick<Workspace, "id" | "repoUrl" | "repoRef">;
  /** Whether the state that the run has saved is signed; null = it has saved none, and what was noted of the session still holds. */
  readonly stateSigned?: boolean | null;
}

/** What the next run of this task is given; null = no session. Without a fingerprint only the params that the run itself was given still hold. */
export function sessionParamsOut(out: SessionOut): Record<string, unknown> | null {
  if (out.sessionId === null) return null;
  const { workspace, fingerprint } = out;
  if (fingerprint === null) return idOf(out.previous) === out.sessionId ? { ...out.previous, sessionId: out.sessionId } : null;
  const own = {
    sessionId: out.sessionId,
    cwd: out.cwd,
    podCwd: fingerprint.podCwd === out.cwd ? null : fingerprint.podCwd,
    stateMode: fingerprint.stateMode,
    [STATE_KEY]: fingerprint.stateKey,
    promptBundleKey: fingerprint.bundleKey,
    mcpServerIdentity: fingerprint.mcpIdentity,
    connectionsDigest: fingerprint.connectionsDigest,
    workspaceId: workspace.id,
    repoUrl: workspace.repoUrl,
    repoRef: workspace.repoRef,
    ...(out.stateSigned == null ? {} : { [SIGNED]: out.stateSigned }),
  };
  // What other versions noted belongs to their session, not to a new one.
  const kept = idOf(out.previous) === out.sessionId ? Object.entries(out.previous ?? {}) : [];
  const others = kept.filter(([key]) => !Object.hasOwn(own, key) && !ID_NAMES.includes(key));
  return Object.fromEntries([...others, ...Object.entries(own).filter(([, value]) => value)]);
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
