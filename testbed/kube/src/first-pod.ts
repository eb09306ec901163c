import type { Admin } from "./admin.ts";
import { SHELL_IMAGE } from "./images.ts";
import { until } from "./wait.ts";

const NAMESPACE = "kube-up-check";

/** A cluster counts as up when a Job's pod has run to its end on it. */
export async function runFirstPod(admin: Admin): Promise<void> {
  await admin.request("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  await until("the default service account", 30, () => admin.request("GET", `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`));
  const container = { name: "check", image: SHELL_IMAGE, imagePullPolicy: "Never", command: ["true"] };
  const template = { spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 0, containers: [container] } };
  const jobs = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
  await admin.request("POST", jobs, { metadata: { name: "check" }, spec: { backoffLimit: 0, template } });
  const condition = await until("a pod to run to its end", 60, async () => {
    const job = await admin.request<{ status: { conditions?: { type: string; message?: string }[] } }>("GET", `${jobs}/check`);
    return job.status.conditions?.find(({ type }) => type === "Complete" || type === "Failed");
  });
  if (condition.type === "Failed") throw new Error(`the first pod failed: ${condition.message}`);
  await admin.request("DELETE", `/api/v1/namespaces/${NAMESPACE}`);
}
