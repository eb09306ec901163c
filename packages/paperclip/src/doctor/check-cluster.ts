import {
  ApiError,
  type ConnectOptions,
  messageOf,
  ownPodIdentity,
  type Permission,
  permissions,
  reviewPermissions,
} from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../host/types.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { clusterFields } from "../settings/fields/cluster.ts";
import { check } from "./check.ts";

/** The API server answers and takes our credentials. Asks what every account may ask. */
export async function checkApi(config: Needed): Promise<EnvironmentCheck> {
  const first = permissions[0];
  try {
    await reviewPermissions({ kubeconfig: config.kubeconfig }, (permission) => (permission === first ? "default" : null));
    return check("info", "k8s_api_reachable", "The API server answers and accepts the credentials");
  } catch (error) {
    const problem = apiProblem(error);
    return problem.code === "k8s_kubeconfig_invalid" && config.kubeconfig === null ? { ...problem, hint: outside(config) } : problem;
  }
}

type Needed = Pick<AgentConfig, "kubeconfig" | "namespace" | "image" | "dataClaim">;

/** All at once: where the server runs in no pod, nothing can be taken from one. */
function outside(config: Needed): string {
  const { kubeconfig, namespace, image, dataClaim } = clusterFields;
  const missing = Object.entries({ kubeconfig, namespace, image, dataClaim }).filter(([name]) => config[name as keyof Needed] === null);
  const labels = missing.map(([, { label }]) => label).join(", ");
  return `Set ${labels} on the agent's settings page, or for all agents in the operator's policy (docs/policy.md), which must allow them in any case; or run the server in a pod of the cluster.`;
}

/** Why the API server could not be asked. */
export function apiProblem(error: unknown): EnvironmentCheck {
  const message = messageOf(error);
  const code = error instanceof ApiError ? error.code : "api_unreachable";
  if (code === "api_config") return check("error", "k8s_kubeconfig_invalid", message);
  if (code === "api_auth") return check("error", "k8s_credentials_refused", message);
  return check("error", "k8s_api_unreachable", message);
}

/** Each permission of the table that these settings can use, by access review; those to create claims only where agents have claims of their own. */
export async function checkPermissions(
  cluster: ConnectOptions,
  namespace: string,
  serverEnv: NodeJS.ProcessEnv,
  ownClaims: boolean,
): Promise<{ readonly checks: readonly EnvironmentCheck[]; readonly mayCreateJobs: boolean }> {
  const own = await ownPodIdentity(serverEnv);
  const readsOwnPod = ({ scope }: Permission) => scope === "own-namespace";
  const unused = ({ verb, resource }: Permission) =>
    !ownClaims && (resource === "storageclasses" || (verb === "create" && resource === "persistentvolumeclaims"));
  try {
    const reviews = await reviewPermissions(cluster, (row) =>
      unused(row) ? null : readsOwnPod(row) ? (own?.namespace ?? null) : namespace,
    );
    const denied = reviews.filter(({ allowed }) => allowed === false).map(({ permission }) => permission);
    const checks = denied.map((row) => missing(row, readsOwnPod(row) ? (own?.namespace ?? namespace) : namespace));
    const unknown = reviews.filter(({ allowed }) => allowed === null).length;
    if (unknown > 0)
      checks.push(
        check("warn", "k8s_permissions_unknown", `The cluster does not answer whether the account has ${unknown} of its permissions`),
      );
    else if (!denied.some(({ required }) => required))
      checks.push(check("info", "k8s_permissions_granted", `The account has all required permissions in namespace ${namespace}`));
    return { checks, mayCreateJobs: !denied.some(({ verb, resource }) => verb === "create" && resource === "jobs") };
  } catch (error) {
    return { checks: [apiProblem(error)], mayCreateJobs: false };
  }
}

function missing(row: Permission, namespace: string): EnvironmentCheck {
  const where = row.scope === "cluster" ? "" : ` in namespace ${namespace}`;
  const what = `not allowed to ${row.verb} ${row.resource}${where} (${row.why}): ${row.lostWithout}`;
  const grant = `Grant "${row.verb}" on "${row.resource}"${row.group === "" ? "" : ` of API group "${row.group}"`}${where} to the server's account`;
  const file = row.scope === "cluster" ? "deploy/rbac-cluster.yaml has it" : "deploy/rbac.yaml has all of them";
  const hint = `${grant}: ${file} (docs/permissions.md)`;
  // Without the namespace there is no Role either, and everything is forbidden.
  if (row.required) return check("error", "k8s_permission_missing", what, `${hint}. Check also that the namespace exists.`);
  return check("warn", "k8s_permission_optional", what, `${hint}.`);
}
