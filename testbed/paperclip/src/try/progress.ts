import type { Stage } from "../stage.ts";

const AGENT_NAME = "paperclip.io/agent-name";

/** How far each agent's pod is, from the pod's own output: what is true whether or not there is a server. */
export function podProgress({ cluster, namespace }: Stage): string[] {
  return cluster.list("pods", namespace).map(({ metadata, status }) => {
    const step = cluster
      .podLog(namespace, metadata.name ?? "")
      .match(/step \d+ of \d+/g)
      ?.at(-1);
    const job = cluster.get("jobs", namespace, metadata.labels?.["batch.kubernetes.io/job-name"] ?? "");
    const name = job?.metadata.annotations?.[AGENT_NAME] ?? metadata.name;
    return `${name}: ${step ?? "at work"}${status?.phase === "Running" ? "" : `, the pod has ended (${status?.phase})`}`;
  });
}
