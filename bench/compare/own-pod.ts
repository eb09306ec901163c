import { KubeConfig } from "@kubernetes/client-node";
import { openCluster } from "@paperclip-k8s/kube";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { STAYS } from "../settle.ts";

const NAME = "bench-server";

/** Other adapters' pods do not pass Pod Security "restricted". */
export async function allowAnyPod(bed: Bed): Promise<void> {
  if (bed.kind !== "kube") return;
  const cluster = openCluster();
  const labels = { "pod-security.kubernetes.io/enforce": "privileged" };
  await cluster.admin.request("PATCH", `/api/v1/namespaces/${bed.namespace}`, { metadata: { labels } }).finally(() => cluster.close());
}

/** A pod that stands for the server's own: adapters that take image, claim and variables from it find them there. What its server's environment says then. */
export async function standForServer(
  bed: Bed,
  { kubeconfig, image, claim }: { readonly kubeconfig: string; readonly image: string; readonly claim: string },
): Promise<Record<string, string>> {
  // Where others look for their volume, whatever it is called on this machine.
  const volumeMounts = [{ name: "data", mountPath: "/paperclip" }];
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const answer = await fetch(`${config.getCurrentCluster()?.server}/api/v1/namespaces/${bed.namespace}/pods`, {
    method: "POST",
    headers: { authorization: `Bearer ${config.getCurrentUser()?.token}`, "content-type": "application/json" },
    body: JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: NAME, labels: { [STAYS]: "true" } },
      spec: {
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim } }],
        containers: [{ name: "paperclip", image, command: ["sleep", "100000"], securityContext, volumeMounts }],
      },
    }),
  });
  if (!answer.ok) throw new Error(`the pod that stands for the server: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
  return { HOSTNAME: NAME, POD_NAMESPACE: bed.namespace };
}
