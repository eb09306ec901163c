import {
  ApiError,
  type ConnectOptions,
  findClaim,
  isTransient,
  messageOf,
  type RunRequest,
  tryRun,
  tryVolume,
} from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../host/types.ts";
import { check } from "./check.ts";

/** The Job of a run, looked at by the API server and not made. */
export async function checkJob(request: RunRequest, cluster: ConnectOptions): Promise<readonly EnvironmentCheck[]> {
  try {
    const warnings = await tryRun(request, cluster);
    const problems = warnings.map((text) => check("warn", "k8s_job_warning", text));
    return [
      check("info", "k8s_job_accepted", `Namespace ${request.namespace} exists, and its API server would take the Job of a run`),
      ...problems,
    ];
  } catch (error) {
    return [refusal(error, request.namespace)];
  }
}

function refusal(error: unknown, namespace: string): EnvironmentCheck {
  const message = messageOf(error);
  if (!(error instanceof ApiError)) return check("error", "k8s_job_refused", message);
  if (error.httpStatus === 404 && isNamespace(error.details))
    return check("error", "k8s_namespace_missing", `There is no namespace ${namespace}`);
  if (error.denied !== null) return check("error", "k8s_permission_missing", message);
  if (error.httpStatus !== null && error.httpStatus >= 400 && error.httpStatus < 500 && !isTransient(error))
    return check("error", "k8s_job_refused", message);
  return check("warn", "k8s_job_untested", message);
}

const isNamespace = (details: unknown): boolean => (details as { kind?: unknown } | null)?.kind === "namespaces";

/** The claim behind the shared volume, as far as the account may look at it, and the volume itself from the server's side. */
export async function checkVolume(request: RunRequest, cluster: ConnectOptions): Promise<readonly EnvironmentCheck[]> {
  const both = await Promise.all([checkClaim(request, cluster), checkWritable(request)]);
  return both.flat();
}

async function checkClaim({ namespace, volumes }: RunRequest, cluster: ConnectOptions): Promise<readonly EnvironmentCheck[]> {
  const name = volumes.shared.claimName;
  try {
    const claim = await findClaim(cluster, namespace, name);
    if (claim === null) return [check("error", "volume_claim_missing", `Namespace ${namespace} has no PersistentVolumeClaim ${name}`)];
    const modes = claim.accessModes.join(", ") || "no access mode";
    if (claim.phase !== "Bound") return [check("warn", "volume_claim_pending", `Claim ${name} is ${claim.phase}, not Bound`)];
    if (claim.accessModes.includes("ReadWriteMany"))
      return [check("info", "volume_claim_found", `Claim ${name} is bound and ReadWriteMany`)];
    if (claim.accessModes.every((mode) => mode === "ReadWriteOncePod"))
      return [check("error", "volume_claim_single_pod", `Claim ${name} is ${modes}: only one pod at a time can have it`)];
    const limits = "runs work only while their pods are on the node that has it mounted";
    return [check("warn", "volume_claim_single_node", `Claim ${name} is ${modes}, not ReadWriteMany: ${limits}`)];
  } catch (error) {
    // The missing permission is reported by the check of permissions.
    if (error instanceof ApiError && error.httpStatus === 403) return [];
    return [check("warn", "volume_claim_unknown", `Claim ${name} could not be looked at: ${messageOf(error)}`)];
  }
}

async function checkWritable(request: RunRequest): Promise<readonly EnvironmentCheck[]> {
  try {
    await tryVolume(request);
    return [check("info", "volume_writable", `The server can write to ${request.output.root}`)];
  } catch (error) {
    return [check("error", "volume_unwritable", `The server cannot make a run's files below ${request.output.root}: ${messageOf(error)}`)];
  }
}
