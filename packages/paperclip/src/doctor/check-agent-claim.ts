import { ApiError, type ConnectOptions, findStorageClass, messageOf, tryClaim } from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../host/types.ts";
import { agentClaim } from "../prepare/state/agent-claim.ts";
import { check } from "./check.ts";
import type { ProbeParts } from "./probe/probe-request.ts";

/** Whether claims of the agents' own can be made. The form's test knows no agent, so it cannot look for the claim of one. */
export async function checkAgentClaim(parts: ProbeParts, cluster: ConnectOptions): Promise<readonly EnvironmentCheck[]> {
  const { cli, companyId, config, inherited } = parts;
  const claim = cli.state?.claim;
  if (config.agentDbMode !== "dedicated_pvc" || claim === undefined) return [];
  const { volume } = agentClaim(claim, { agent: { id: "environment-test", companyId }, cli, config });
  const { create } = volume;
  if (create === null)
    return [check("warn", "storage_class_unset", "No Session storage class is set: no claim can be made for an agent that has none")];
  const both = [classExists(cluster, create.storageClass), claimTaken(cluster, inherited.namespace, volume.claimName, create)];
  return (await Promise.all(both.map((each) => each.catch(problem)))).filter((each) => each !== null);
}

async function classExists(cluster: ConnectOptions, name: string): Promise<EnvironmentCheck> {
  if (await findStorageClass(cluster, name)) return check("info", "storage_class_found", `Storage class ${name} exists`);
  return check("error", "storage_class_missing", `The cluster has no storage class ${name}`);
}

async function claimTaken(...claim: Parameters<typeof tryClaim>): Promise<EnvironmentCheck> {
  try {
    await tryClaim(...claim);
    return check("info", "agent_claim_accepted", `The API server would take an agent's claim of ${claim[3].capacity}`);
  } catch (error) {
    const isRefusal = error instanceof ApiError && error.denied === null && [400, 403, 422].includes(error.httpStatus ?? 0);
    if (isRefusal) return check("error", "agent_claim_refused", error.message);
    throw error;
  }
}

/** A missing permission is reported by the check of permissions. */
function problem(error: unknown): EnvironmentCheck | null {
  return error instanceof ApiError && error.denied !== null ? null : check("warn", "agent_claim_unknown", messageOf(error));
}
