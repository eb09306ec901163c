import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "./company.ts";
import type { Stage } from "./stage.ts";

/** The run in question, its pod, and what an act may need to make it end. */
export interface Scene {
  readonly stage: Stage;
  readonly agentId: string;
  readonly issueId: string;
  readonly run: Run;
  readonly pod: string;
}

/** One way a run can end, and how to make it happen. */
export interface Way {
  readonly name: string;
  /** The prompt of the scripted model. */
  readonly task: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Done once the agent has taken a few steps. */
  readonly act?: (scene: Scene) => Promise<void>;
  /** Done before the second wake of the issue; the run that is looked at is then that wake's. */
  readonly beforeSecond?: (scene: Scene) => Promise<void>;
}

/** A program of the stage's image; the sign ends the command, since the host repeats a task inside JSON, where its line goes on. */
export const CLOSE = "bash:close-issue #";
/** Works on, a step each second, until somebody ends it. */
const BUSY = "endless-steps slow-1";

export const ways: readonly Way[] = [
  { name: "exit code 0, the agent closed its issue", task: CLOSE },
  { name: "exit code 0, the issue left open", task: "say:finished" },
  { name: "exit code 0, after an unknown session", task: CLOSE, beforeSecond: loseSessions },
  { name: "the model refuses the request (400)", task: "model-error" },
  { name: "the model's key is wrong (401)", task: "unauthorized" },
  { name: "the model does not exist (404)", task: "no-such-model" },
  { name: "the context is too long (400)", task: "too-long" },
  { name: "the model is overloaded (503)", task: "overloaded" },
  { name: "quota used up (429, come back in an hour)", task: "quota", config: { timeoutSec: 25, graceSec: 1 } },
  { name: "time limit", task: BUSY, config: { timeoutSec: 10, graceSec: 1 } },
  { name: "cancelled by an operator", task: BUSY, act: async ({ stage, run }) => void (await stage.company.cancel(run.id)) },
  { name: "the agent paused by an operator", task: BUSY, act: async ({ stage, agentId }) => void (await stage.company.pause(agentId)) },
  { name: "out of memory", task: BUSY, act: async ({ stage, pod }) => stage.cluster.faults.oom(stage.namespace, pod) },
  { name: "evicted by the kubelet", task: BUSY, act: async ({ stage, pod }) => stage.cluster.faults.evictByKubelet(stage.namespace, pod) },
  { name: "evicted by a drain", task: BUSY, act: async ({ stage, pod }) => stage.cluster.faults.evict(stage.namespace, pod) },
  { name: "the Job deleted by hand", task: BUSY, act: deleteJob },
  { name: "the image is not there", task: "say:finished", config: { image: "missing:1", imagePullPolicy: "Never" } },
  { name: "the namespace does not exist", task: "say:finished", config: { namespace: "nowhere" } },
  { name: "Jobs may not be created there", task: "say:finished", config: { namespace: "forbidden" } },
  { name: "the volume does not exist", task: "say:finished", config: { dataClaim: "nothing", scheduleTimeoutSec: 5 } },
  { name: "the CLI refuses its arguments", task: "say:finished", config: { extraArgs: ["--no-such-option"] } },
  { name: "the CLI is not in the image", task: "say:finished", config: { image: "bare:1" } },
  { name: "a setting is wrong", task: "say:finished", config: { timeoutSec: "soon" } },
];

/** What some of them need of the cluster. */
export function prepareCluster({ cluster }: Stage): void {
  cluster.images["bare:1"] = { path: ["/usr/bin", "/bin"] };
  cluster.createNamespace("forbidden");
  cluster.faults.deny({ verb: "create", resource: "jobs", namespace: "forbidden" });
}

async function deleteJob({ stage, pod }: Scene): Promise<void> {
  const { cluster, namespace } = stage;
  const job = cluster.get("pods", namespace, pod)?.metadata.labels?.["batch.kubernetes.io/job-name"];
  const url = `${cluster.url}/apis/batch/v1/namespaces/${namespace}/jobs/${job}?propagationPolicy=Background`;
  const answer = await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${cluster.token}` } });
  if (!answer.ok) throw new Error(`the Job ${job} cannot be deleted: HTTP ${answer.status}`);
}

/** The CLI's own files of the agent are gone, the host still knows the session. */
async function loseSessions({ stage, agentId }: Scene): Promise<void> {
  const folder = join(stage.host.home.path, "instances/default/data/agent-state", stage.company.id, agentId);
  rmSync(folder, { recursive: true });
}
