import { createHash } from "node:crypto";
import { type ClaimVolume, labelValue } from "@paperclip-k8s/engine";
import type { AgentCli, CliClaim } from "../../agent-cli/agent-cli.ts";
import { LABEL } from "../../host/keys.ts";
import type { ExecutionContext } from "../../host/types.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import { CLAIM_MOUNT } from "../environment/mounts.ts";

/** The claim one agent's sessions are kept on, and what has the CLI use it. */
export interface AgentClaim {
  readonly volume: Omit<ClaimVolume, "setOwnership">;
  readonly env: Readonly<Record<string, string>>;
}

export interface AgentClaimInput {
  readonly agent: Pick<ExecutionContext["agent"], "id" | "companyId">;
  readonly cli: Pick<AgentCli, "type">;
  readonly config: Pick<AgentConfig, "agentDbStorageClass" | "agentDbStorageCapacity">;
}

export function agentClaim(claim: CliClaim, { agent, cli, config }: AgentClaimInput): AgentClaim {
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

/** The host's ids go in as they are, so that the claims of earlier adapters are found; of others only what a name can hold, and a hash. */
export function claimName(prefix: string, agentId: string): string {
  const slug = agentId
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "")
    .replace(/^-+/, "")
    .slice(0, MAX_SLUG)
    .replace(/-+$/, "");
  if (slug === agentId) return `${prefix}${slug}`;
  const hash = createHash("sha256").update(agentId).digest("hex").slice(0, 8);
  return [`${prefix}${slug}`, hash].join(slug === "" ? "" : "-");
}
