import type { Stage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";
import type { AtWork } from "./at-work.ts";

interface JobStatus {
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/** The cluster says that the agent's Job is complete. */
export const jobOver = ({ cluster, namespace }: Stage, { agent }: Pick<AtWork, "agent">): Promise<boolean> =>
  until("the Job's end", async () =>
    cluster
      .list("jobs", namespace)
      .filter(({ metadata }) => metadata.labels?.["paperclip.io/agent-id"] === agent.id)
      .some((job) => (job as JobStatus).status?.conditions?.some(({ type }) => type === "Complete")),
  );
