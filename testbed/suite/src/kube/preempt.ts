import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeCluster } from "@paperclip-k8s/kube";

/** A pod of higher priority that needs the place of what runs in the namespace, until it has had it. */
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
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await admin.request("POST", pods, {
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
  await ended(cluster, `${pods}/${name}`);
  await admin.request("DELETE", `${pods}/${name}`, { gracePeriodSeconds: 0 });
}

/** Whoever comes next needs the place too. */
async function ended({ admin }: KubeCluster, pod: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const { status } = await admin.request<{ status: { phase?: string } }>("GET", pod);
    if (status.phase === "Succeeded") return;
    await sleep(200);
  }
}

/** Does not fit beside a run that asks for as much on the bed's node of two or more cores only if the run asks for the rest: see VICTIM_CPU. */
const PREEMPTOR_CPU = "1200m";
