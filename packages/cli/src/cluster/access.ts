import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type ConnectOptions, contextNamespace, ownPodIdentity } from "@paperclip-k8s/engine";

export interface ClusterArguments {
  readonly kubeconfig: string | null;
  readonly context: string | null;
  readonly namespaces: readonly string[];
}

/** As kubectl finds its cluster: a file that was named, KUBECONFIG, the pod's own account, the home's file. */
export function clusterOf({ kubeconfig, context }: ClusterArguments, env: NodeJS.ProcessEnv): ConnectOptions {
  const file = kubeconfig ?? env.KUBECONFIG?.split(delimiter).find(existsSync) ?? (env.KUBERNETES_SERVICE_HOST ? null : homeFile());
  return { kubeconfig: file, ...(context === null ? {} : { context }) };
}

export async function namespacesOf(given: ClusterArguments, cluster: ConnectOptions, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  if (given.namespaces.length > 0) return given.namespaces;
  if (cluster.kubeconfig !== null) return [(await contextNamespace(cluster)) ?? "default"];
  return [(await ownPodIdentity(env))?.namespace ?? "default"];
}

const homeFile = (): string => join(homedir(), ".kube", "config");
