import { randomBytes } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { KubeCluster } from "@paperclip-k8s/kube";

const CLASSES = "/apis/storage.k8s.io/v1/storageclasses";
const VOLUMES = "/api/v1/persistentvolumes";

/** Local volumes made by hand, bound when their first pod comes. The kubelet applies fsGroup to them as to a block device; to a hostPath it does not. */
export async function createStorageClass(cluster: KubeCluster, namespace: string, count: number): Promise<string> {
  const name = `${namespace}-${randomBytes(3).toString("hex")}`;
  const labels = { "suite.test/namespace": namespace };
  await cluster.admin.request("POST", CLASSES, {
    metadata: { name, labels },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  for (let number = 1; number <= count; number++) {
    const path = join(cluster.volumes, namespace, `${name}-${number}`);
    await mkdir(path, { recursive: true });
    await chmod(path, 0o755);
    await cluster.admin.request("POST", VOLUMES, {
      metadata: { name: `${name}-${number}`, labels },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: name,
        capacity: { storage: "10Gi" },
        persistentVolumeReclaimPolicy: "Retain",
        local: { path },
        nodeAffinity: onNode(cluster.nodeName),
      },
    });
  }
  return name;
}

const onNode = (node: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }] },
});

export async function removeStorageClasses(cluster: KubeCluster, namespace: string): Promise<void> {
  const selector = `?labelSelector=${encodeURIComponent(`suite.test/namespace=${namespace}`)}`;
  for (const path of [VOLUMES, CLASSES]) await cluster.admin.request("DELETE", `${path}${selector}`);
}
