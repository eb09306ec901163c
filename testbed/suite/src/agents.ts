import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createEngine, type EngineOptions } from "@paperclip-k8s/engine";
import { type Llm, type LlmRequest, scriptedSettings, startLlm } from "@paperclip-k8s/llm";
import { type AgentCli, createAdapter, type ExecutionResult } from "@paperclip-k8s/paperclip";
import { type HostCall, hostContext } from "@paperclip-k8s/paperclip/testing";
import { type CliName, loadKits } from "../../../packages/adapters.ts";
import { type Bed, settingsFor, startBed } from "./bed.ts";
import { bedPolicy, toolsFolder } from "./bed-policy.ts";

const kits = await loadKits();

/** What no log, Job or result may show. */
export const SECRET = "sk-ant-s3cret-provider-key";
export const TOKEN = "run-token-0123456789";

/** One run of an agent, as the host asks for it. */
export interface AgentRun extends Omit<HostCall, "task"> {
  readonly cli: CliName;
  /** The text: the scripted model does what its words say. */
  readonly prompt: string;
  /** The host's key of the conversation. */
  readonly task?: string | null;
  /** Added to the agent's own variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly engine?: EngineOptions;
  /** Where the server says its own API is. */
  readonly serverEnv?: NodeJS.ProcessEnv;
  /** Further lines of the operator's policy. */
  readonly policy?: string;
  readonly hostTimeoutMs?: number;
  /** What of the CLI's description a test needs otherwise. */
  readonly changeCli?: (cli: AgentCli) => AgentCli;
}

export interface AgentRan {
  readonly runId: string;
  readonly result: ExecutionResult;
  readonly log: string;
  readonly meta: readonly unknown[];
  /** What the next run of the conversation is given. */
  readonly session: Record<string, unknown> | null;
}

type Conversation = Pick<AgentRun, "cli"> & { readonly agent: string; readonly task: string };

/** A cluster, a scripted model, and agents that run the real CLIs through the adapter's own execute. */
export interface Agents {
  readonly bed: Bed;
  readonly llm: Llm;
  /** A folder of the volume that all pods have, for what a test puts there. */
  readonly tools: string;
  run(run: AgentRun): Promise<AgentRan & { /** What the model was asked meanwhile. */ readonly turns: readonly LlmRequest[] }>;
  /** What the model got in the last turn that has this prompt. */
  reported(prompt: string): readonly string[];
  savedFolder(conversation: Conversation): string;
  /** Names of the saved generations of a conversation. */
  generations(conversation: Conversation): Promise<string[]>;
  /** The name of the run's pod. */
  pod(runId: string): Promise<string>;
  stop(): Promise<void>;
}

export async function openAgents(options?: Parameters<typeof startBed>[0]): Promise<Agents> {
  const bed = await startBed(options);
  const llm = await startLlm({ host: bed.hostAddress });
  const savedFolder: Agents["savedFolder"] = ({ cli, agent, task }) =>
    join(bed.data, "instances/default/data/agent-state/company-1", agent, cli, task);
  return {
    bed,
    llm,
    tools: toolsFolder(bed),
    run: async (run) => {
      const seen = llm.requests.length;
      const ran = await runAgent({ bed, llm }, run);
      return { ...ran, turns: llm.requests.slice(seen).filter(({ tools }) => tools > 0) };
    },
    reported: (prompt) => llm.requests.findLast(({ tools, userTexts }) => tools > 0 && userTexts.at(-1)?.includes(prompt))?.userTexts ?? [],
    savedFolder,
    generations: async (conversation) => (await readdir(savedFolder(conversation))).filter((name) => name.endsWith(".tar")).sort(),
    pod: async (runId) => {
      const pod = (await bed.list("pods")).find(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === runId);
      if (pod === undefined) throw new Error(`run ${runId} has no pod`);
      return pod.metadata.name;
    },
    stop: async () => {
      await llm.stop();
      await bed.stop();
    },
  };
}

/** What a server needs to know of the cluster and the model. */
export interface Surroundings {
  readonly bed: Pick<Bed, "kubeconfig" | "namespace" | "images" | "data">;
  readonly llm: Pick<Llm, "url">;
}

export async function runAgent({ bed, llm }: Surroundings, run: AgentRun): Promise<AgentRan> {
  const { cli, prompt, task = null, config, env, engine, serverEnv = {}, hostTimeoutMs, changeCli = (same) => same } = run;
  const own = scriptedSettings(kits[cli].scriptedModel(llm, { apiKey: SECRET }));
  const settings = { ...settingsFor(bed), ...SMALL, graceSec: 5, promptTemplate: "Work.", ...own };
  const { ctx, log, meta } = hostContext({
    ...run,
    task: prompt,
    taskKey: task,
    config: { ...settings, ...config, env: { ...own.env, ...env, ...(config?.env as object | undefined) } },
    change: { authToken: TOKEN, ...run.change },
  });
  const adapter = createAdapter(changeCli(kits[cli].cli), {
    engine: createEngine(engine),
    serverEnv: { ...bedPolicy(bed.data, run.policy), ...serverEnv },
    pollMs: 100,
    hostTimeoutMs,
  });
  const result = await adapter.execute(ctx);
  return { runId: ctx.runId, result, log: log(), meta, session: result.sessionParams ?? null };
}

/** Many at once must fit on one node. */
const SMALL = { "resources.requests.cpu": "10m", "resources.requests.memory": "64Mi", "resources.limits.memory": "2Gi" };
