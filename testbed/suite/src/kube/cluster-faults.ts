import { writeFile } from "node:fs/promises";
import type { KubeCluster } from "@paperclip-k8s/kube";
import type { ClusterFaults } from "../bed-faults.ts";
import { killFirstProcess } from "./kill-first-process.ts";
import { loseNode } from "./lose-node.ts";
import { preempt } from "./preempt.ts";
import { unschedulable } from "./unschedulable.ts";

/** Real trouble: what an operator, a drain, a scheduler or a dead kubelet does. */
export function clusterFaults(cluster: KubeCluster, namespace: string): ClusterFaults {
  const { admin } = cluster;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
  return {
    oom: (_pod, { trigger }) => writeFile(trigger, ""),
    killRunner: async (pod) => killFirstProcess(pod),
    evict: async (pod) => {
      await admin.request("POST", `${pods}/${pod}/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: pod, namespace },
      });
    },
    preempt: () => preempt(cluster, namespace),
    deletePod: async (pod, options = {}) => {
      await admin.request("DELETE", `${pods}/${pod}`, options);
    },
    deleteJob: async (job, propagationPolicy) => {
      await admin.request("DELETE", `${jobs}/${job}`, { propagationPolicy });
    },
    loseNode: ({ taint = false } = {}) => loseNode(cluster, taint),
    loseVolume: async (claim) => {
      const { spec } = await admin.request<{ spec: { volumeName: string } }>(
        "GET",
        `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claim}`,
      );
      const volume = `/api/v1/persistentvolumes/${spec.volumeName}`;
      // In this order: the cluster protects a volume in use again until it is being deleted.
      await admin.request("DELETE", volume);
      await admin.request("PATCH", volume, { metadata: { finalizers: null } });
    },
    unschedulable: () => unschedulable(cluster, namespace),
    noPods: async (why) => {
      // A service account that is missing is in the request itself.
      if (why === "service-account") return { undo: async () => {} };
      await admin.request("POST", quotas, { metadata: { name: "none" }, spec: { hard: { pods: "0" } } });
      return { undo: async () => void (await admin.request("DELETE", `${quotas}/none`)) };
    },
  };
}
