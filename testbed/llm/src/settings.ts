// The settings of an agent whose model is the scripted LLM: one place for suite, demo, bench and test bed.
import type { Llm } from "./server.ts";

/** What an agent needs to talk to the scripted LLM and to nobody else. */
export interface ScriptedModel {
  /** The agent's `model`. */
  readonly model: string;
  /** Where the model is and the key for it: in production a matter of the server's pod. */
  readonly provider: Readonly<Record<string, string>>;
  /** Keeps the CLI from asking elsewhere. */
  readonly offline: Readonly<Record<string, string>>;
}

type Served = Pick<Llm, "url">;

export interface OpenCodeModel {
  readonly apiKey?: string;
  /** The name behind `scripted/`; null = the provider lists none. */
  readonly name?: string | null;
  readonly contextLimit?: number;
  /** So many times the usual price: a host that counts whole cents sees nothing of a short run. */
  readonly priceFactor?: number;
}

export function openCodeModel({ url }: Served, options: OpenCodeModel = {}): ScriptedModel {
  const { apiKey = "not-a-key", name = "m", contextLimit = 100_000, priceFactor = 1 } = options;
  const cost = { input: 3 * priceFactor, output: 15 * priceFactor, cache_read: 0.3 * priceFactor };
  const models = name === null ? {} : { models: { [name]: { limit: { context: contextLimit, output: 4096 }, cost } } };
  const scripted = { npm: "@ai-sdk/openai-compatible", name: "Scripted", options: { baseURL: `${url}/v1`, apiKey }, ...models };
  return {
    model: `scripted/${name ?? "unlisted"}`,
    provider: { PAPERCLIP_OPENCODE_PROVIDERS: JSON.stringify({ scripted }) },
    offline: { OPENCODE_DISABLE_MODELS_FETCH: "1" },
  };
}

export function claudeModel({ url }: Served, { apiKey = "not-a-key" }: { readonly apiKey?: string } = {}): ScriptedModel {
  return {
    model: "claude-sonnet-5",
    provider: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: apiKey },
    offline: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "1",
      // All tools in every request, so that the script can call any.
      ENABLE_TOOL_SEARCH: "false",
      // A pod's user is never root; a process of the embedded cluster may be.
      IS_SANDBOX: "1",
    },
  };
}

/** The scripted model of each agent CLI. */
export const scriptedModels = { opencode: openCodeModel, claude: claudeModel } as const;

/** As an agent's settings. */
export const scriptedSettings = ({ model, provider, offline }: ScriptedModel): { model: string; env: Record<string, string> } => ({
  model,
  env: { ...provider, ...offline },
});
