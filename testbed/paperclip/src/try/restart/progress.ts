import type { Stage } from "../../stage.ts";

const AGENT_NAME = "paperclip.io/agent-name";
const JOB_NAME = "batch.kubernetes.io/job-name";

/** How far an agent's pod is, from the pod's own output: what is true whether or not there is a server. */
export interface Progress {
  readonly pod: string;
  readonly running: boolean;
  /** It has reported a step of its work. */
  readonly hasBegun: boolean;
  /** For people. */
  readonly line: string;
}

export function podProgress({ cluster, namespace }: Stage): Progress[] {
  const agents = cluster.list("pods", namespace).filter(({ metadata }) => metadata.labels?.[JOB_NAME] !== undefined);
  return agents.map(({ metadata, status }) => {
    const steps = cluster.podLog(namespace, metadata.name ?? "").match(/step \d+ of \d+/g);
    const job = cluster.get("jobs", namespace, metadata.labels?.[JOB_NAME] ?? "");
    const name = job?.metadata.annotations?.[AGENT_NAME] ?? metadata.name;
    const phase = status?.phase ?? "Pending";
    const state = phase === "Running" ? "" : phase === "Pending" ? "its pod waits to start" : `its pod has ended (${phase})`;
    const line = [steps?.at(-1) ?? (state === "" ? "at work" : null), state].filter((part) => part !== null && part !== "").join(", ");
    return { pod: metadata.name ?? "", running: phase === "Running", hasBegun: steps !== null, line: `${name}: ${line}` };
  });
}
