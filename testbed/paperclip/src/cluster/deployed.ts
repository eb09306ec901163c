import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeCluster } from "@paperclip-k8s/kube";
import { isAlive } from "../release.ts";
import { run } from "../run.ts";
import { until } from "../wait.ts";
import { CLAIM, type Overlay, writeOverlay } from "./overlay.ts";

const VOLUMES = "/api/v1/persistentvolumes";
/** Label of a volume with the process that removes it, and the server's namespace of the same name. */
const OWNER = "paperclip-testbed/owner";

/** A Paperclip server that runs in the cluster. */
export interface Deployed {
  readonly namespace: string;
  /** The shared volume, seen from this machine. */
  readonly data: string;
  kubectl(...args: string[]): Promise<string>;
  /** It stays when we are gone. */
  keep(): Promise<unknown>;
  remove(): Promise<void>;
}

/** Makes the volume, applies the overlay and waits until the server is ready. */
export async function deploy(cluster: KubeCluster, overlay: Overlay, say: (line: string) => void): Promise<Deployed> {
  const { namespace } = overlay;
  const kubectl = (...args: string[]) => run(cluster.kubectl, ["--kubeconfig", cluster.kubeconfig, "-n", namespace, ...args]);
  const remove = () => removeAll(cluster, namespace);
  try {
    const data = await createVolume(cluster, namespace);
    await apply(kubectl, overlay);
    say("waiting for the server's pod (its first start makes the database)");
    await rolledOut(kubectl);
    const keep = () => cluster.admin.request("PATCH", `${VOLUMES}/${namespace}`, { metadata: { labels: { [OWNER]: null } } });
    return { namespace, data, kubectl, keep, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function apply(kubectl: Deployed["kubectl"], overlay: Overlay): Promise<void> {
  const files = await mkdtemp(join(tmpdir(), "paperclip-deploy-"));
  try {
    await writeOverlay(files, overlay);
    await kubectl("apply", "-k", files);
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

/** A folder of the node for the claim of deploy/. */
async function createVolume(cluster: KubeCluster, namespace: string): Promise<string> {
  const path = join(cluster.volumes, namespace);
  await mkdir(path);
  await chmod(path, 0o777);
  await cluster.admin.request("POST", VOLUMES, {
    metadata: { name: namespace, labels: { [OWNER]: String(process.pid) } },
    spec: {
      accessModes: ["ReadWriteMany"],
      storageClassName: "",
      capacity: { storage: "50Gi" },
      hostPath: { path },
      claimRef: { namespace, name: CLAIM },
    },
  });
  return path;
}

/** Servers whose owner was killed before it could remove them. */
export async function removeAbandoned(cluster: KubeCluster): Promise<void> {
  const query = `${VOLUMES}?labelSelector=${encodeURIComponent(OWNER)}`;
  const { items } = await cluster.admin.request<{ items: { metadata: { name: string; labels: Record<string, string> } }[] }>("GET", query);
  const abandoned = items.filter(({ metadata }) => !isAlive(Number(metadata.labels[OWNER])));
  await Promise.all(abandoned.map(({ metadata }) => removeAll(cluster, metadata.name)));
}

async function removeAll(cluster: KubeCluster, namespace: string): Promise<void> {
  const gone = (path: string) =>
    cluster.admin.request("DELETE", path).catch((error: { status?: number }) => {
      if (error.status !== 404) throw error;
    });
  const there = (path: string) =>
    cluster.admin.request("GET", path).then(
      () => true,
      () => false,
    );
  await gone(`/api/v1/namespaces/${namespace}`);
  await until("the namespace's end", async () => !(await there(`/api/v1/namespaces/${namespace}`)));
  await gone(`${VOLUMES}/${namespace}`);
  await rm(join(cluster.volumes, namespace), { recursive: true, force: true });
}
