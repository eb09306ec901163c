import { randomUUID } from "node:crypto";
import { createEngine } from "@paperclip-k8s/engine";
import { type Llm, type LlmRequest, startLlm } from "@paperclip-k8s/llm";
import { createAdapter, type ExecutionContext, type ExecutionResult } from "@paperclip-k8s/paperclip";
import { claude } from "../../../packages/adapter-claude/src/agent-cli.ts";
import { type Bed, settingsFor, startBed } from "./bed.ts";

export const SECRET = "sk-ant-s3cret-provider-key";
export const TOKEN = "run-token-0123456789";

export interface Wake {
  readonly task: string;
  readonly agent?: string;
  readonly session?: Record<string, unknown> | null;
  readonly config?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly ctx?: Partial<ExecutionContext>;
  /** What of the CLI's description a test needs otherwise. */
  readonly cli?: Partial<typeof claude>;
  /** Where the server says its own API is. */
  readonly serverEnv?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
  readonly hostPatienceMs?: number;
}

export interface Woken {
  readonly result: ExecutionResult;
  readonly log: string;
  readonly meta: readonly unknown[];
  /** What the model was asked meanwhile. */
  readonly turns: readonly LlmRequest[];
}

/** A cluster, a scripted model and agents that run the real Claude Code through the adapter's own execute. */
export interface ClaudeStage {
  readonly bed: Bed;
  readonly llm: Llm;
  wake(wake: Wake): Promise<Woken>;
  stop(): Promise<void>;
}

export async function openClaudeStage(options?: Parameters<typeof startBed>[0]): Promise<ClaudeStage> {
  const bed = await startBed(options);
  const llm = await startLlm({ host: bed.hostAddress });
  return {
    bed,
    llm,
    wake: (wake) => wakeAgent(bed, llm, wake),
    stop: async () => {
      await llm.stop();
      await bed.stop();
    },
  };
}

async function wakeAgent(bed: Bed, llm: Llm, wake: Wake): Promise<Woken> {
  const { task, agent = randomUUID(), session = null, config, env, ctx, cli, serverEnv = {}, onLine, hostPatienceMs } = wake;
  const log: string[] = [];
  const meta: unknown[] = [];
  const seen = llm.requests.length;
  const adapter = createAdapter({ ...claude, ...cli }, { engine: createEngine(), serverEnv, pollMs: 100, hostPatienceMs });
  const result = await adapter.execute({
    runId: randomUUID(),
    agent: { id: agent, companyId: "company-1", name: "Tester" },
    runtime: { sessionId: null, sessionParams: session, sessionDisplayId: null, taskKey: null },
    config: {
      ...settingsFor(bed),
      graceSec: 5,
      promptTemplate: "Work.",
      ...config,
      env: { ...environment(llm), ...env },
    },
    context: { paperclipTaskMarkdown: task },
    onLog: async (stream, chunk) => {
      log.push(`${stream}: ${chunk}`);
      for (const line of chunk.split("\n")) onLine?.(line);
    },
    onMeta: async (value) => void meta.push(value),
    authToken: TOKEN,
    signal: new AbortController().signal,
    onCancellationReady: async () => {},
    ...ctx,
  });
  return { result, log: log.join(""), meta, turns: llm.requests.slice(seen).filter(({ tools }) => tools > 0) };
}

const environment = (llm: Llm): Record<string, string> => ({
  ANTHROPIC_BASE_URL: llm.url,
  ANTHROPIC_API_KEY: SECRET,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "1",
  // All tools in every request, so that the script can call any.
  ENABLE_TOOL_SEARCH: "false",
  // A pod's user is never root; a process of the embedded cluster may be.
  IS_SANDBOX: "1",
});
