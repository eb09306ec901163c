import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ApiError, type ConnectOptions, contextNamespace, ownPodIdentity } from "@paperclip-k8s/engine";
import { inspectPolicy } from "@paperclip-k8s/paperclip/policy";
import { findRecordSecret } from "@paperclip-k8s/paperclip/record-secret";

export interface ClusterArguments {
  readonly kubeconfig: string | null;
  readonly context: string | null;
  readonly namespaces: readonly string[];
}

/** Finds the cluster as kubectl does: the file that was named, the files in KUBECONFIG, the pod's own account, the file in the home folder. */
export function clusterOf({ kubeconfig, context }: ClusterArguments, env: NodeJS.ProcessEnv): ConnectOptions {
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "" && existsSync(path));
  const home = env.KUBERNETES_SERVICE_HOST ? null : join(homedir(), ".kube", "config");
  const files = kubeconfig ?? (listed.length === 0 ? home : listed);
  return { kubeconfig: files, ...(context === null ? {} : { context }) };
}

export async function namespacesOf(given: ClusterArguments, cluster: ConnectOptions, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  if (given.namespaces.length > 0) return given.namespaces;
  // In the server's container: where its agents run.
  const { policy } = await inspectPolicy(null, env);
  const ofSome = (policy?.agents ?? []).flatMap(({ defaults }) => defaults.namespace ?? []);
  return [...new Set([policy?.defaults.namespace ?? (await usualNamespace(cluster, env)), ...ofSome])];
}

async function usualNamespace(cluster: ConnectOptions, env: NodeJS.ProcessEnv): Promise<string> {
  const found = cluster.kubeconfig === null ? (await ownPodIdentity(env))?.namespace : await contextNamespace(cluster);
  return found ?? "default";
}

/** The server's secret, which proves who wrote a record: from the environment, as the server has it, or from its file. Null = not known here. */
export function secretOf(
  env: NodeJS.ProcessEnv,
  place: { readonly data: string | null; readonly instance: string } | null,
): Promise<Uint8Array | null> {
  const data = place?.data ?? env.PAPERCLIP_HOME;
  return findRecordSecret(env, data ? { dataPath: data, instanceId: place?.instance ?? (env.PAPERCLIP_INSTANCE_ID || "default") } : null);
}

/** For what an account may lack: null = it may not see this. */
export function unlessForbidden(error: unknown): null {
  if (error instanceof ApiError && error.httpStatus === 403) return null;
  throw error;
}
