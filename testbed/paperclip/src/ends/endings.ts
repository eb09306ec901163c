import { rmSync } from "node:fs";
import { join } from "node:path";
import { WRONG_KEY } from "@paperclip-k8s/llm";
import type { Way } from "../../../../packages/paperclip/src/conclude/way-out.ts";
import type { AdapterType } from "../agent-kinds.ts";
import type { Run } from "../host/company.ts";
import type { Stage } from "../stage.ts";

/** The run in question, its pod, and what an act may need to make it end. */
export interface Scene {
  readonly stage: Stage;
  readonly agentId: string;
  readonly issueId: string;
  readonly run: Run;
  readonly pod: string;
}

/** What a failure is to look like. */
export interface Expected {
  /** Our own code: `resultJson.cause`, or the run's code where that is none. */
  readonly cause: string;
  /** Who goes on after it, as the product decides. */
  readonly way: Way;
  /** What a person does on the issue's page to go on, once the cause is gone; null = the host goes on by itself. */
  readonly wayOutBy: "comment" | "todo" | null;
}

type Config = Readonly<Record<string, unknown>>;

/** One way a run can end, and how to make it happen. */
export interface Ending {
  readonly name: string;
  /** The prompt of the scripted model. */
  readonly task: string;
  /** For an end of one CLI only. */
  readonly type?: AdapterType;
  /** What differs from an agent's usual settings. */
  readonly config?: Config | ((usual: Config) => Config);
  /** Done once the agent has taken a few steps. */
  readonly act?: (scene: Scene) => Promise<void>;
  /** Done before the second wake of the issue; the run that is looked at is then that wake's. */
  readonly beforeSecond?: (scene: Scene) => Promise<void>;
  /** What a person does first, away from the issue's page. */
  readonly fix?: (scene: Pick<Scene, "stage" | "agentId">) => Promise<void>;
  /** Null = no failure. */
  readonly expected: Expected | null;
}

/** A program of the stage's image; the sign ends the command, since the host repeats a task inside JSON, where its line goes on. */
export const CLOSE = "bash:close-issue #";
/** Works on, a step each second, until somebody ends it. */
const BUSY = "endless-steps slow-1";
/** Longer than the time limit that it is given here; a later run with more time brings it to its end. */
const LONG_STEP = "bash:sleep 30 && close-issue #";
const OK = "say:finished";
const SETTING = "configuration_incomplete";

export const endings: readonly Ending[] = [
  { name: "exit code 0, the agent closed its issue", task: CLOSE, expected: null },
  { name: "exit code 0, the issue left open", task: "say:finished", expected: null },
  { name: "exit code 0, after an unknown session", task: CLOSE, beforeSecond: loseSessions, expected: null },
  {
    name: "the model refuses the request (400)",
    task: CLOSE,
    config: { model: "scripted/model-error" },
    fix: correct,
    expected: person("llm_request_refused", "comment"),
  },
  {
    name: "the model's key is wrong (401)",
    task: CLOSE,
    config: withWrongKey,
    fix: correct,
    expected: person("auth_required", "todo"),
  },
  {
    name: "the model does not exist (404)",
    task: CLOSE,
    config: { model: "scripted/no-such-model" },
    fix: correct,
    expected: person("model_not_found", "comment"),
  },
  // OpenCode shortens the conversation and says that it is done; where it resumes it, it shortens it again and again.
  { name: "the context is too long (400)", task: "too-long", config: { timeoutSec: 60, graceSec: 1 }, expected: null },
  {
    name: "the model is overloaded (503)",
    task: CLOSE,
    config: { model: "scripted/overloaded" },
    expected: retry("transient_upstream"),
  },
  {
    name: "quota used up (429, come back in an hour)",
    task: CLOSE,
    config: { model: "scripted/quota", timeoutSec: 60, graceSec: 1 },
    expected: retry("provider_quota"),
  },
  {
    name: "time limit",
    task: LONG_STEP,
    config: { timeoutSec: 10, graceSec: 1 },
    expected: { cause: "timeout", way: "continue", wayOutBy: "comment" },
  },
  {
    name: "cancelled by an operator",
    task: BUSY,
    act: async ({ stage, run }) => void (await stage.company.cancel(run.id)),
    expected: { cause: "cancelled", way: "free", wayOutBy: "comment" },
  },
  {
    name: "the agent paused by an operator",
    task: BUSY,
    act: async ({ stage, agentId }) => void (await stage.company.pause(agentId)),
    fix: async ({ stage, agentId }) => void (await stage.company.resume(agentId)),
    expected: { cause: "agent_paused", way: "free", wayOutBy: "comment" },
  },
  {
    name: "out of memory",
    task: BUSY,
    act: async ({ stage, pod }) => stage.cluster.faults.oom(stage.namespace, pod),
    expected: person("k8s_oom_killed", "comment"),
  },
  {
    name: "evicted by the kubelet",
    task: BUSY,
    act: async ({ stage, pod }) => stage.cluster.faults.evictByKubelet(stage.namespace, pod),
    expected: retry("k8s_evicted"),
  },
  {
    name: "evicted by a drain",
    task: BUSY,
    act: async ({ stage, pod }) => stage.cluster.faults.evict(stage.namespace, pod),
    expected: retry("k8s_evicted"),
  },
  { name: "the Job deleted by hand", task: BUSY, act: deleteJob, expected: person("k8s_job_deleted_externally", "todo") },
  {
    name: "the image is not there",
    task: OK,
    config: { image: "missing:1", imagePullPolicy: "Never" },
    fix: correct,
    expected: person(SETTING, "comment"),
  },
  { name: "the namespace does not exist", task: OK, config: { namespace: "nowhere" }, fix: correct, expected: person(SETTING, "todo") },
  {
    name: "Jobs may not be created there",
    task: OK,
    config: { namespace: "forbidden" },
    fix: correct,
    expected: person(SETTING, "comment"),
  },
  {
    name: "the volume does not exist",
    task: OK,
    config: { dataClaim: "nothing", scheduleTimeoutSec: 5 },
    expected: retry("k8s_pod_schedule_failed"),
  },
  {
    name: "the CLI refuses its arguments",
    task: OK,
    config: { extraArgs: ["--no-such-option"] },
    fix: correct,
    expected: person(SETTING, "todo"),
  },
  { name: "the CLI is not in the image", task: OK, config: { image: "bare:1" }, fix: correct, expected: person(SETTING, "comment") },
  { name: "a setting is wrong", task: OK, config: { image: "no image" }, fix: correct, expected: person(SETTING, "todo") },
];

function person(cause: string, wayOutBy: "comment" | "todo"): Expected {
  return { cause, way: "person", wayOutBy };
}

function retry(cause: string): Expected {
  return { cause, way: "retry", wayOutBy: null };
}

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

/** The usual settings with a key that the model's provider does not accept. */
function withWrongKey({ env, model }: Config): Config {
  const wrong = JSON.stringify(env).replaceAll("not-a-key", WRONG_KEY);
  return { model, env: JSON.parse(wrong) };
}

/** The agent's settings as they should have been. */
async function correct({ stage, agentId }: Pick<Scene, "stage" | "agentId">): Promise<void> {
  const { adapterType } = await stage.company.agent(agentId);
  await stage.company.reconfigure(agentId, stage.config(adapterType as AdapterType));
}
