import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createEngine, type Policy } from "@paperclip-k8s/engine";
import { type Llm, startLlm } from "@paperclip-k8s/llm";
import { type AgentCli, createAdapter, type ExecutionContext, type ExecutionResult } from "@paperclip-k8s/paperclip";
import { claude } from "../../../packages/adapter-claude/src/agent-cli.ts";
import { opencode } from "../../../packages/adapter-opencode/src/agent-cli.ts";
import { type Bed, settingsFor, startBed } from "./bed.ts";

const CLIS = { opencode, claude } as const;
export type CliName = keyof typeof CLIS;

/** One turn of a conversation. */
export interface StateTurn {
  readonly cli: CliName;
  readonly prompt: string;
  /** A random one unless set. */
  readonly runId?: string;
  readonly agent: string;
  /** The host's key of the conversation. */
  readonly task: string;
  readonly session?: Record<string, unknown> | null;
  readonly config?: Record<string, unknown>;
  /** Added to the agent's own variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly context?: Record<string, unknown>;
  readonly signal?: AbortSignal;
  readonly policy?: Partial<Policy>;
  readonly onLine?: (line: string) => void;
  /** What of the CLI's description a test needs otherwise. */
  readonly change?: (cli: AgentCli) => AgentCli;
}

export interface Turned {
  readonly runId: string;
  readonly result: ExecutionResult;
  readonly log: string;
  /** What the next turn is given. */
  readonly session: Record<string, unknown> | null;
}

/** A cluster, a scripted model, and agents that run the real CLIs through the adapter's own execute, several tasks of one agent at a time. */
export interface StateStage {
  readonly bed: Bed;
  readonly llm: Llm;
  turn(turn: StateTurn): Promise<Turned>;
  /** What the model was told in the last turn that has this prompt. */
  told(prompt: string): readonly string[];
  /** Names of the saved generations of a task. */
  generations(turn: Pick<StateTurn, "cli" | "agent" | "task">): Promise<string[]>;
  savedFolder(turn: Pick<StateTurn, "cli" | "agent" | "task">): string;
  /** The pod of a run that is under way. */
  pod(runId: string): Promise<string>;
  stop(): Promise<void>;
}

export async function openStateStage(): Promise<StateStage> {
  const bed = await startBed();
  const llm = await startLlm({ host: bed.hostAddress });
  const savedFolder: StateStage["savedFolder"] = ({ cli, agent, task }) =>
    join(bed.data, "instances/default/data/agent-state/company-1", agent, cli, task);
  return {
    bed,
    llm,
    turn: (turn) => takeTurn({ bed, llm }, turn),
    told: (prompt) => llm.requests.findLast(({ tools, userTexts }) => tools > 0 && userTexts.at(-1)?.includes(prompt))?.userTexts ?? [],
    savedFolder,
    generations: async (turn) => (await readdir(savedFolder(turn))).filter((name) => name.endsWith(".tar")).sort(),
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

export async function takeTurn({ bed, llm }: Surroundings, turn: StateTurn): Promise<Turned> {
  const { cli, prompt, agent, task, session = null, config, onLine, change = (same) => same } = turn;
  const log: string[] = [];
  const { runId = randomUUID() } = turn;
  const own = settings(bed, cli, llm);
  const engine = createEngine(turn.policy ? { policy: turn.policy } : {});
  const adapter = createAdapter(change(CLIS[cli]), { engine, serverEnv: {}, pollMs: 100 });
  const result = await adapter.execute({
    runId,
    agent: { id: agent, companyId: "company-1", name: "Tester" },
    runtime: { sessionId: null, sessionParams: session, sessionDisplayId: null, taskKey: task },
    config: { ...own, ...config, env: { ...(own.env as object), ...turn.env } },
    context: { paperclipTaskMarkdown: prompt, ...turn.context },
    onLog: async (stream, chunk) => {
      log.push(`${stream}: ${chunk}`);
      for (const line of chunk.split("\n")) onLine?.(line);
    },
    authToken: "run-token-0123456789",
    signal: turn.signal ?? new AbortController().signal,
    onCancellationReady: async () => {},
  } satisfies ExecutionContext);
  return { runId, result, log: log.join(""), session: result.sessionParams ?? null };
}

function settings(bed: Surroundings["bed"], cli: CliName, llm: Surroundings["llm"]): Record<string, unknown> {
  return {
    ...settingsFor(bed),
    graceSec: 5,
    promptTemplate: "Work.",
    "resources.requests.cpu": "10m",
    "resources.requests.memory": "64Mi",
    "resources.limits.memory": "2Gi",
    ...(cli === "opencode" ? opencodeSettings(llm) : { env: claudeEnv(llm) }),
  };
}

function opencodeSettings(llm: Surroundings["llm"]): Record<string, unknown> {
  const models = { m: { limit: { context: 100_000, output: 4096 }, cost: { input: 3, output: 15, cache_read: 0.3 } } };
  const provider = { npm: "@ai-sdk/openai-compatible", options: { baseURL: `${llm.url}/v1`, apiKey: "s3cret" }, models };
  const env = { PAPERCLIP_OPENCODE_PROVIDERS: JSON.stringify({ scripted: provider }), OPENCODE_DISABLE_MODELS_FETCH: "1" };
  return { model: "scripted/m", env };
}

const claudeEnv = (llm: Surroundings["llm"]): Record<string, string> => ({
  ANTHROPIC_BASE_URL: llm.url,
  ANTHROPIC_API_KEY: "sk-ant-s3cret",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "1",
  ENABLE_TOOL_SEARCH: "false",
  IS_SANDBOX: "1",
});
