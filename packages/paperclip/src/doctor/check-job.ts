import { ApiError, type ConnectOptions, messageOf, type RunRequest, tryRun } from "@paperclip-k8s/engine";
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
  if (error.httpStatus !== null && error.httpStatus >= 400 && error.httpStatus < 500 && error.httpStatus !== 429)
    return check("error", "k8s_job_refused", message);
  return check("warn", "k8s_job_untested", message);
}

const isNamespace = (details: unknown): boolean => (details as { kind?: unknown } | null)?.kind === "namespaces";
