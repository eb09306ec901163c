import type { Llm } from "@paperclip-k8s/llm";

export const TYPES = ["opencode_k8s", "claude_k8s"] as const;
export type AdapterType = (typeof TYPES)[number];

/** What makes the scripted model an agent's model. */
export interface AgentKind {
  readonly title: string;
  readonly model: string;
  /** Where the model is and the key for it: in production a matter of the server's pod. */
  provider(llm: Pick<Llm, "url">): Readonly<Record<string, string>>;
  /** Keeps the CLI from asking elsewhere. */
  readonly quiet: Readonly<Record<string, string>>;
}

export const KINDS: Readonly<Record<AdapterType, AgentKind>> = {
  opencode_k8s: {
    title: "OpenCode",
    model: "scripted/m",
    provider: (llm) => ({ PAPERCLIP_OPENCODE_PROVIDERS: JSON.stringify({ scripted: scripted(llm) }) }),
    quiet: { OPENCODE_DISABLE_MODELS_FETCH: "1" },
  },
  claude_k8s: {
    title: "Claude Code",
    model: "claude-sonnet-5",
    provider: (llm) => ({ ANTHROPIC_BASE_URL: llm.url, ANTHROPIC_API_KEY: "not-a-key" }),
    quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  },
};

const scripted = (llm: Pick<Llm, "url">) => ({
  npm: "@ai-sdk/openai-compatible",
  options: { baseURL: `${llm.url}/v1`, apiKey: "not-a-key" },
  // Dear, because the host counts costs in whole cents and a scripted run is short.
  models: { m: { limit: { context: 100_000, output: 4096 }, cost: { input: 300, output: 1500, cache_read: 30 } } },
});

/** An environment as the host's API takes it. */
export const plainEnv = (env: Readonly<Record<string, string>>): Record<string, { type: "plain"; value: string }> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, { type: "plain" as const, value }]));
