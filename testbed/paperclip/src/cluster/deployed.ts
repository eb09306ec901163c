import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeCluster } from "@paperclip-k8s/kube";
import { run } from "../run.ts";
import { isAlive } from "../server/release.ts";
import { until } from "../wait.ts";
import { agentsOf, MEETING_PLACE, type Overlay, OWNER, SERVER, writeOverlay } from "./overlay.ts";

/** A Paperclip server that runs in the cluster. */
export interface Deployed {
  readonly namespace: string;
  /** The shared volume, seen from this machine. */
  readonly data: string;
  /** In the server's namespace. */
  kubectl(...args: string[]): Promise<string>;
  /** In the agents' namespace. */
  agents(...args: string[]): Promise<string>;
  /** It stays when we are gone. */
  keep(): Promise<unknown>;
  remove(): Promise<void>;
}

/** Makes the volume, applies the overlay and waits until the server is ready. */
export async function deploy(cluster: KubeCluster, wanted: Omit<Overlay, "data">, say: (line: string) => void): Promise<Deployed> {
  const { namespace } = wanted;
  const within =
    (where: string) =>
    (...args: string[]) =>
      run(cluster.kubectl, ["--kubeconfig", cluster.kubeconfig, "-n", where, ...args]);
  const kubectl = within(namespace);
  const remove = () => removeAll(cluster, namespace);
  const data = join(cluster.volumes, namespace);
  try {
    await mkdir(data);
    // Its mount is in the policy, which every run would complain about without it.
    const meeting = join(data, MEETING_PLACE.replace("/paperclip/", ""));
    await mkdir(meeting);
    for (const folder of [data, meeting]) await chmod(folder, 0o777);
    await apply(cluster, { ...wanted, data });
    say("waiting for the server's pod (its first start makes the database)");
    await rolledOut(kubectl);
    const keep = () => cluster.admin.request("PATCH", `${NAMESPACES}/${namespace}`, { metadata: { labels: { [OWNER]: null } } });
    return { namespace, data, kubectl, agents: within(agentsOf(namespace)), keep, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function apply({ kubectl, kubeconfig }: KubeCluster, overlay: Overlay): Promise<void> {
  const files = await mkdtemp(join(tmpdir(), "paperclip-deploy-"));
  try {
    await writeOverlay(files, overlay);
    await run(kubectl, ["--kubeconfig", kubeconfig, "apply", "-k", files]);
  } finally {
    await rm(files, { recursive: true, force: true });
  }
}

async function rolledOut(kubectl: Deployed["kubectl"]): Promise<void> {
  await kubectl("rollout", "status", "deployment/paperclip", "--timeout=300s").catch(async (error: Error) => {
    const pods = await kubectl("describe", "pods");
    const log = await kubectl("logs", "deployment/paperclip", "--tail=50").catch(String);
    throw new Error(`the server is not ready: ${error.message}\n${pods.slice(-3000)}\n${log}`, { cause: error });
  });
}

const NAMESPACES = "/api/v1/namespaces";
/** What deploy/ makes outside of namespaces. */
const CLUSTER_WIDE = [
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  "/api/v1/persistentvolumes",
];

/** Servers whose owner was killed before it could remove them. */
export async function removeAbandoned(cluster: KubeCluster): Promise<void> {
  const query = `${NAMESPACES}?labelSelector=${encodeURIComponent(OWNER)}`;
  const { items } = await cluster.admin.request<{ items: { metadata: { name: string; labels: Record<string, string> } }[] }>("GET", query);
  const abandoned = items.filter(({ metadata }) => !isAlive(Number(metadata.labels[OWNER])));
  await Promise.all(abandoned.map(({ metadata }) => removeAll(cluster, metadata.name)));
}

async function removeAll(cluster: KubeCluster, namespace: string): Promise<void> {
  await Promise.all([namespace, agentsOf(namespace)].map((name) => removeNamespace(cluster, name)));
  const selector = encodeURIComponent(`${SERVER}=${namespace}`);
  for (const path of CLUSTER_WIDE) await cluster.admin.request("DELETE", `${path}?labelSelector=${selector}`);
  await rm(join(cluster.volumes, namespace), { recursive: true, force: true });
}

async function removeNamespace({ admin }: KubeCluster, name: string): Promise<void> {
  const path = `${NAMESPACES}/${name}`;
  await admin.request("DELETE", path).catch((error: { status?: number }) => {
    if (error.status !== 404) throw error;
  });
  const isThere = () =>
    admin.request("GET", path).then(
      () => true,
      () => false,
    );
  await until("the namespace's end", async () => !(await isThere()));
}
