import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { permissions } from "@paperclip-k8s/engine";
import { type KubeCluster, openCluster } from "@paperclip-k8s/kube";
import type { KubeObject } from "@paperclip-k8s/pocket";
import type { Bed, BedKind } from "../bed.ts";
import { remembered } from "../calm.ts";
import { createAccount, removeClusterWide } from "./accounts.ts";
import { clusterFaults } from "./cluster-faults.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { createStorageClass, removeStorageClasses } from "./storage-class.ts";
import { wireFaults } from "./wire-faults.ts";

const PATHS: Readonly<Record<BedKind, string>> = {
  jobs: "/apis/batch/v1",
  pods: "/api/v1",
  secrets: "/api/v1",
  events: "/api/v1",
  persistentvolumeclaims: "/api/v1",
};

/** A namespace of the real cluster, as an operator would set it up: Pod Security, a claim, an account with the listed permissions. Faults on the wire need the proxy. */
export async function startKubeBed({ proxied = true } = {}): Promise<Bed> {
  const cluster = openCluster();
  const namespace = `suite-${randomBytes(4).toString("hex")}`;
  const files = await mkdtemp(join(tmpdir(), "bed-"));
  const proxy = new FaultProxy({ url: cluster.server, ca: await readFile(cluster.caFile) });
  await proxy.up();
  await cluster.admin.request("POST", "/api/v1/namespaces", {
    metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  });
  const account: Bed["account"] = (rows) => {
    const name = `account-${randomBytes(4).toString("hex")}`;
    const server = proxied ? { server: proxy.url } : { server: cluster.server, "certificate-authority": cluster.caFile };
    return createAccount(cluster, { namespace, name, server, path: join(files, name) }, rows);
  };
  const volumes: string[] = [];
  const addVolume = async (claim: string) => {
    volumes.push(`${namespace}-${claim}`);
    return createVolume(cluster, namespace, claim);
  };
  const kubeconfig = await account(permissions);
  const data = await addVolume("data");
  return {
    kind: "kube",
    pocket: null,
    namespace,
    kubeconfig,
    data,
    images: { agent: cluster.images.agent, missing: "localhost/nowhere:1" },
    hostAddress: cluster.hostAddress,
    faults: remembered({ ...wireFaults(proxy), ...clusterFaults(cluster, namespace) }),
    requests: proxy.requests,
    get connections() {
      return proxy.connections;
    },
    addVolume,
    addStorageClass: (count) => createStorageClass(cluster, namespace, count),
    account,
    list: async (kind) => {
      const { items } = (await cluster.admin.request("GET", `${PATHS[kind]}/namespaces/${namespace}/${kind}`)) as { items: KubeObject[] };
      return items;
    },
    relabel: async (kind, name, labels) =>
      void (await cluster.admin.request("PATCH", `${PATHS[kind]}/namespaces/${namespace}/${kind}/${name}`, { metadata: { labels } })),
    podLog: (pod) => cluster.admin.request<string>("GET", `/api/v1/namespaces/${namespace}/pods/${pod}/log`),
    stop: async () => {
      await proxy.stop();
      await cluster.admin.request("DELETE", `/api/v1/namespaces/${namespace}`);
      for (const name of volumes) await cluster.admin.request("DELETE", `/api/v1/persistentvolumes/${name}`);
      await removeStorageClasses(cluster, namespace);
      await removeClusterWide(cluster, namespace);
      await rm(files, { recursive: true, force: true });
      await gone(cluster, namespace);
      cluster.close();
      await rm(join(cluster.volumes, namespace), { recursive: true, force: true });
    },
  };
}

/** A folder of the node as a ReadWriteMany claim, at the same path in pods. */
async function createVolume(cluster: KubeCluster, namespace: string, claim: string): Promise<string> {
  const path = join(cluster.volumes, namespace, claim);
  await mkdir(path, { recursive: true });
  await chmod(path, 0o777);
  const size = { storage: "10Gi" };
  const common = { accessModes: ["ReadWriteMany"], storageClassName: "" };
  await cluster.admin.request("POST", "/api/v1/persistentvolumes", {
    metadata: { name: `${namespace}-${claim}` },
    spec: { ...common, capacity: size, hostPath: { path }, claimRef: { namespace, name: claim } },
  });
  await cluster.admin.request("POST", `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
    metadata: { name: claim },
    spec: { ...common, resources: { requests: size }, volumeName: `${namespace}-${claim}` },
  });
  await bound(cluster, namespace, claim);
  return path;
}

/** The first pod of a namespace must not meet a claim that is still to be bound: the scheduler would set it aside for seconds, or until something changes. */
async function bound(cluster: KubeCluster, namespace: string, claim: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claim}`;
  for (let tries = 0; tries < 600; tries++) {
    const { status } = (await cluster.admin.request("GET", path)) as { status: { phase: string } };
    if (status.phase === "Bound") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`claim ${namespace}/${claim} was not bound within a minute`);
}

/** A namespace takes its time to go; files must not be taken from under pods that still end. */
async function gone(cluster: KubeCluster, namespace: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const { items } = (await cluster.admin.request("GET", `/api/v1/namespaces/${namespace}/pods`)) as { items: unknown[] };
    if (items.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
