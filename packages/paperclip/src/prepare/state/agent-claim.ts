import { ApiError, type ClaimVolume, findClaim, labelValue } from "@paperclip-k8s/engine";
import type { CliClaim } from "../../agent-cli/agent-cli.ts";
import { LABEL } from "../../host/keys.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { chosenMode } from "../../settings/session-mode.ts";
import { sha256 } from "../../sha256.ts";
import type { RunInputs, RunParts } from "../attempt.ts";
import { CLAIM_MOUNT } from "../environment/mounts.ts";

/** The claim one agent's sessions are kept on, and the variables that make the CLI use it. */
export interface AgentClaim {
  readonly volume: Omit<ClaimVolume, "setOwnership">;
  readonly env: Readonly<Record<string, string>>;
}

/** Whose claim it is. */
interface ClaimOwner {
  readonly agent: Pick<RunParts["ctx"]["agent"], "id" | "companyId">;
  readonly cli: Pick<RunParts["cli"], "type">;
  readonly config: Pick<RunParts["config"], "agentDbStorageClass" | "agentDbStorageCapacity">;
}

export function agentClaim(claim: CliClaim, { agent, cli, config }: ClaimOwner): AgentClaim {
  const { agentDbStorageClass: storageClass, agentDbStorageCapacity: capacity } = config;
  const labels = {
    [LABEL.managedBy]: "paperclip",
    [LABEL.pvcType]: "agent-db",
    [LABEL.agentId]: labelValue(agent.id).value,
    [LABEL.companyId]: labelValue(agent.companyId).value,
    [LABEL.adapterType]: cli.type,
  };
  const create = storageClass === null ? null : { storageClass, capacity, labels };
  return { volume: { claimName: claimName(claim.prefix, agent.id), mountPath: CLAIM_MOUNT, create }, env: claim.env(CLAIM_MOUNT) };
}

const MAX_SLUG = 200;

/** A part of a name that neither begins nor ends with a hyphen. */
export const trimmed = (text: string, most: number): string => text.replace(/^-+/, "").slice(0, most).replace(/-+$/, "");

/** The host's ids are used as they are, so that the claims of earlier adapters are found; other ids are shortened and get a hash. */
export function claimName(prefix: string, agentId: string): string {
  const slug = trimmed(agentId.toLowerCase().replace(/[^a-z0-9-]+/g, ""), MAX_SLUG);
  if (slug === agentId) return `${prefix}${slug}`;
  return [`${prefix}${slug}`, sha256(agentId).slice(0, 8)].join(slug === "" ? "" : "-");
}

/** Whether no mode was chosen, or none that there is: the adapters before this one had other defaults. */
export const isModeUnset = ({ config }: Pick<RunParts["ctx"], "config">): boolean => chosenMode(config) === undefined;

/**
 * The claim that has a session of an adapter before this one: it used to be the default, so the session goes on there as long as no mode is chosen.
 * Null = there is no such claim. Throws where that cannot be seen: the session may be on it.
 */
export async function claimOfEarlierSession(
  { ctx, cli, config, inherited }: RunParts,
  sessionId: string,
): Promise<{ readonly state: { readonly mode: "dedicated_pvc" } & AgentClaim; readonly note: string } | null> {
  const claim = cli.state?.claim;
  if (claim === undefined || !isModeUnset(ctx)) return null;
  const name = `${inherited.namespace}/${claimName(claim.prefix, ctx.agent.id)}`;
  const found = await lookForClaim({ ctx, config, inherited }, claim, name, sessionId);
  if (found === null) return null;
  return {
    state: { mode: "dedicated_pvc", ...agentClaim(claim, { agent: ctx.agent, cli, config }) },
    note: `session ${sessionId} of an earlier adapter goes on where it is: on claim ${name}. Set Session storage (agentDbMode) to dedicated_pvc to keep all sessions of this agent there, or to portable to leave it for good`,
  };
}

async function lookForClaim(
  { ctx, config, inherited }: Pick<RunParts, "ctx" | "config" | "inherited">,
  claim: CliClaim,
  name: string,
  sessionId: string,
) {
  try {
    return await findClaim({ kubeconfig: config.kubeconfig }, inherited.namespace, claimName(claim.prefix, ctx.agent.id));
  } catch (error) {
    if (!(error instanceof ApiError) || error.httpStatus !== 403) throw error;
    throw new ConfigError(
      "agentDbMode",
      `session ${sessionId} of an earlier adapter may be on claim ${name}, which the server's account is not allowed to look at (${error.message}). ` +
        "Let it get persistentvolumeclaims, or choose: dedicated_pvc if the agent's sessions are on that claim, portable to start a fresh session",
    );
  }
}

const asked = new Set<string>();

/**
 * A warning about a claim of the agent's own, which used to be the default, where no mode was chosen since.
 * Looked for once per agent and process; null = there is none, or it cannot be seen.
 */
export async function unusedClaim({ ctx, cli, config, inherited, state }: RunInputs): Promise<string | null> {
  const claim = cli.state?.claim;
  if (claim === undefined || !isModeUnset(ctx) || state.mode === "dedicated_pvc") return null;
  const name = claimName(claim.prefix, ctx.agent.id);
  const key = `${config.kubeconfig}/${inherited.namespace}/${name}`;
  if (asked.has(key)) return null;
  asked.add(key);
  const found = await findClaim({ kubeconfig: config.kubeconfig }, inherited.namespace, name).catch(() => null);
  if (found === null) return null;
  const keep = "set Session storage (agentDbMode) to dedicated_pvc to go on with it, or to portable to leave it for good";
  return `claim ${inherited.namespace}/${name} holds sessions of this agent and is not used now that Session storage is not set: ${keep}`;
}
