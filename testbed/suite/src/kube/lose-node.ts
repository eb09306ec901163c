import { type KubeCluster, otherNode } from "@paperclip-k8s/kube";
import type { Trouble } from "../bed-faults.ts";

/** Stops the kubelet. With another node that is ready the cluster gives the lost one's pods up; alone, it waits. */
export async function loseNode(cluster: KubeCluster, taint: boolean): Promise<Trouble> {
  const other = taint ? await otherNode(cluster.admin) : null;
  await cluster.stopKubelet();
  return {
    undo: async () => {
      await cluster.startKubelet();
      await other?.remove();
    },
  };
}
