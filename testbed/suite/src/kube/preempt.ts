import { randomBytes } from "node:crypto";
import type { KubeCluster } from "@paperclip-k8s/kube";

/** A pod of higher priority that needs the place of what runs in the namespace. It stays until the namespace goes. */
export async function preempt(cluster: KubeCluster, namespace: string): Promise<void> {
  const { admin } = cluster;
  const name = `urgent-${randomBytes(3).toString("hex")}`;
  await admin.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name }, value: 1000 });
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 1000,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };
  await admin.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name },
    spec: {
      priorityClassName: name,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: "urgent",
          image: cluster.images.shell,
          command: ["true"],
          securityContext,
          resources: { requests: { cpu: PREEMPTOR_CPU } },
        },
      ],
    },
  });
  await admin.request("DELETE", `/apis/scheduling.k8s.io/v1/priorityclasses/${name}`);
}

/** Does not fit beside a run that asks for as much on the bed's node of two or more cores only if the run asks for the rest: see VICTIM_CPU. */
const PREEMPTOR_CPU = "1200m";
