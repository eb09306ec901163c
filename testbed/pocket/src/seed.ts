import { mkdirSync } from "node:fs";
import { timestamp } from "./object.ts";
import { hostDirAnnotation, nodeName, type World } from "./world.ts";

// Objects a cluster has before anybody asks.

export function createNode(world: World, labels: Readonly<Record<string, string>>, capacity: Readonly<Record<string, string>>): void {
  const amounts = { cpu: "512", memory: "2Ti", "ephemeral-storage": "2Ti", pods: "2000", ...capacity };
  const now = timestamp();
  world.store.create("nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: nodeName, labels: { "kubernetes.io/hostname": nodeName, "kubernetes.io/os": process.platform, ...labels } },
    spec: {},
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status", lastTransitionTime: now },
      ],
      nodeInfo: {
        kubeletVersion: "v1.34.4+pocket",
        containerRuntimeVersion: "pocket://1",
        operatingSystem: process.platform,
        architecture: process.arch,
      },
    },
  } as never);
}

/** Claims of this class are bound to a fresh folder; all others wait for a volume that never comes. */
export const storageClass = "pocket";

export function createStorageClass(world: World): void {
  world.store.create("storageclasses", {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: storageClass },
    provisioner: "pocket",
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  });
}

export function createNamespace(world: World, name: string, labels: Record<string, string> = {}): void {
  if (world.store.get("namespaces", undefined, name)) return;
  world.store.create("namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { "kubernetes.io/metadata.name": name, ...labels } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
}

/** A claim whose data is a folder of this machine; `bound: false` leaves it waiting for a volume. */
export function createClaim(
  world: World,
  namespace: string,
  name: string,
  hostDir: string,
  { accessModes = ["ReadWriteMany"], bound = true }: { accessModes?: string[]; bound?: boolean } = {},
): void {
  if (bound) mkdirSync(hostDir, { recursive: true });
  world.store.create("persistentvolumeclaims", {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace, annotations: { [hostDirAnnotation]: hostDir } },
    spec: {
      accessModes,
      storageClassName: "",
      resources: { requests: { storage: "1Gi" } },
      ...(bound ? { volumeName: `pv-${name}` } : {}),
    },
    status: bound ? { phase: "Bound", accessModes } : { phase: "Pending" },
  });
}
