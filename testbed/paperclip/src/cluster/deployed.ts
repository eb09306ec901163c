import { rmSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeCluster } from "@paperclip-k8s/kube";
import { run } from "../run.ts";
import { until } from "../wait.ts";
import { CLAIM, type Overlay, writeOverlay } from "./overlay.ts";

/** A Paperclip server that runs in the cluster. */
export interface Deployed {
  readonly namespace: string;
  /** The shared volume, seen from this machine. */
  readonly data: string;
  kubectl(...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

/** Makes the volume, applies the overlay and waits until the server is ready. */
export async function deploy(cluster: KubeCluster, overlay: Overlay, say: (line: string) => void): Promise<Deployed> {
  const { namespace } = overlay;
  const files = await mkdtemp(join(tmpdir(), "paperclip-deploy-"));
  const kubectl = (...args: string[]) => run(cluster.kubectl, ["--kubeconfig", cluster.kubeconfig, "-n", namespace, ...args]);
  const removeFiles = () => rmSync(files, { recursive: true, force: true });
  process.once("exit", removeFiles);
  const remove = async () => {
    removeFiles();
    process.off("exit", removeFiles);
    await removeAll(cluster, namespace);
  };
  try {
    const data = await createVolume(cluster, namespace);
    await writeOverlay(files, overlay);
    await kubectl("apply", "-k", files);
    say("waiting for the server's pod (its first start makes the database)");
    await rolledOut(kubectl);
    return { namespace, data, kubectl, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function rolledOut(kubectl: Deployed["kubectl"]): Promise<void> {
  await kubectl("rollout", "status", "deployment/paperclip", "--timeout=180s").catch(async (error: Error) => {
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
  await cluster.admin.request("POST", "/api/v1/persistentvolumes", {
    metadata: { name: namespace },
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
  await until("the namespace's end", async () => !(await there(`/api/v1/namespaces/${namespace}`)), 120);
  await gone(`/api/v1/persistentvolumes/${namespace}`);
  await rm(join(cluster.volumes, namespace), { recursive: true, force: true });
}
