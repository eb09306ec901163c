import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Stage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";
import type { EarlierAgent } from "./earlier-home.ts";

/** A Job as an earlier adapter made it, that nobody follows any more. */
export interface LiveJob {
  readonly name: string;
  finish(): void;
  /** Every request since it was made that could have changed it. */
  changes(): string[];
}

/** Its labels and annotations are theirs; it has no mark of our runner. */
export async function startLiveJob(stage: Stage, { agent, issue, run }: EarlierAgent, name: string): Promise<LiveJob> {
  const { cluster, namespace, company } = stage;
  const gate = join(stage.host.home.path, `gate-${name}`);
  const labels = {
    "app.kubernetes.io/managed-by": "paperclip",
    "app.kubernetes.io/component": "agent-job",
    "paperclip.io/agent-id": agent.id,
    "paperclip.io/run-id": run.id,
    "paperclip.io/company-id": company.id,
    "paperclip.io/adapter-type": agent.adapterType,
    "paperclip.io/task-id": issue.id,
    "paperclip.io/session-id": run.sessionIdAfter ?? "",
  };
  const annotations = { "paperclip.io/adapter-type": agent.adapterType, "paperclip.io/agent-name": agent.name };
  const command = ["/bin/sh", "-c", `touch ${gate}-seen; until test -e ${gate}; do sleep 0.2; done`];
  const container = { name: "agent", image: "agent:1", command, volumeMounts: [{ name: "data", mountPath: stage.host.home.path }] };
  const spec = {
    restartPolicy: "Never",
    containers: [container],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
  };
  await create(stage, `/apis/batch/v1/namespaces/${namespace}/jobs`, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace, labels, annotations },
    spec: { backoffLimit: 0, ttlSecondsAfterFinished: 300, template: { metadata: { labels }, spec } },
  });
  await until(`Job ${name} at work`, async () => existsSync(`${gate}-seen`));
  const before = cluster.requests.length;
  return {
    name,
    finish: () => writeFileSync(gate, ""),
    changes: () =>
      cluster.requests
        .slice(before)
        .filter((request) => !["get", "list", "watch"].includes(request.verb) && JSON.stringify(request).includes(name))
        .map((request) => JSON.stringify(request)),
  };
}

export const createAccount = (stage: Stage, name: string): Promise<void> =>
  create(stage, `/api/v1/namespaces/${stage.namespace}/serviceaccounts`, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });

/** As the cluster's admin would. */
async function create({ cluster }: Stage, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${cluster.token}`, "content-type": "application/json" };
  const answer = await fetch(`${cluster.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
}
