import { writeFile } from "node:fs/promises";
import type { KubeCluster } from "@paperclip-k8s/kube";
import type { Bed } from "../bed.ts";

type Permissions = Parameters<Bed["account"]>[0];

/** A ServiceAccount with a Role of exactly these permissions; a kubeconfig with its token is written to the path. */
export async function createAccount(
  cluster: KubeCluster,
  account: { readonly namespace: string; readonly name: string; readonly server: Server; readonly path: string },
  permissions: Permissions,
): Promise<string> {
  const { namespace, name } = account;
  const core = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  // The server's own namespace is the one of its runs here.
  const rulesOf = (wanted: "namespace" | "cluster") =>
    permissions
      .filter(({ scope }) => (scope === "cluster") === (wanted === "cluster"))
      .map(({ group, resource, verb }) => ({ apiGroups: [group], resources: [resource], verbs: [verb] }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
  await cluster.admin.request("POST", core, { metadata: { name } });
  await cluster.admin.request("POST", `${rbac}/roles`, { metadata: { name }, rules: rulesOf("namespace") });
  await cluster.admin.request("POST", `${rbac}/rolebindings`, {
    metadata: { name },
    roleRef,
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  });
  const clusterWide = rulesOf("cluster");
  if (clusterWide.length > 0) await grantClusterWide(cluster, account, clusterWide);
  const { status } = (await cluster.admin.request("POST", `${core}/${name}/token`, { spec: { expirationSeconds: 36_000 } })) as {
    status: { token: string };
  };
  await writeFile(account.path, kubeconfig(account.server, status.token), { mode: 0o600 });
  return account.path;
}

const CLUSTER_RBAC = "/apis/rbac.authorization.k8s.io/v1";

async function grantClusterWide(
  cluster: KubeCluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  rules: readonly object[],
): Promise<void> {
  const metadata = { name: `${namespace}-${name}`, labels: { "suite.test/namespace": namespace } };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name };
  await cluster.admin.request("POST", `${CLUSTER_RBAC}/clusterroles`, { metadata, rules });
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  await cluster.admin.request("POST", `${CLUSTER_RBAC}/clusterrolebindings`, { metadata, roleRef, subjects });
}

/** What the accounts of a namespace leave outside of it. */
export async function removeClusterWide(cluster: KubeCluster, namespace: string): Promise<void> {
  const selector = encodeURIComponent(`suite.test/namespace=${namespace}`);
  for (const kind of ["clusterrolebindings", "clusterroles"])
    await cluster.admin.request("DELETE", `${CLUSTER_RBAC}/${kind}?labelSelector=${selector}`);
}

interface Server {
  readonly server: string;
  readonly "certificate-authority"?: string;
}

function kubeconfig(cluster: Server, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bed", cluster }],
    users: [{ name: "bed", user: { token } }],
    contexts: [{ name: "bed", context: { cluster: "bed", user: "bed" } }],
    "current-context": "bed",
  });
}
