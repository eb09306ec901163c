import { randomBytes } from "node:crypto";
import type { KubeCluster } from "@paperclip-k8s/kube";
import type { Trouble } from "../bed-faults.ts";

/** The API server's plugin PodNodeSelector gives every new pod of the namespace the selector that stands here. */
const SELECTOR = "scheduler.alpha.kubernetes.io/node-selector";

/** New pods of one namespace find no node until it is undone, and are then scheduled. A cordoned node would do it to every test that runs at the same time. */
export async function unschedulable({ admin, nodeName }: KubeCluster, namespace: string): Promise<Trouble> {
  const label = `suite.test/${randomBytes(4).toString("hex")}`;
  const select = (annotations: Record<string, string | null>) =>
    admin.request("PATCH", `/api/v1/namespaces/${namespace}`, { metadata: { annotations } });
  await select({ [SELECTOR]: `${label}=yes` });
  return {
    undo: async () => {
      await select({ [SELECTOR]: null });
      // It stays: a pod that is still to be scheduled needs it, and nobody else uses the name.
      await admin.request("PATCH", `/api/v1/nodes/${nodeName}`, { metadata: { labels: { [label]: "yes" } } });
    },
  };
}
