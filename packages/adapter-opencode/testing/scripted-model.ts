import type { ScriptedModel, ScriptedOptions } from "@paperclip-k8s/llm";

export function scriptedModel({ url }: { readonly url: string }, options: ScriptedOptions = {}): ScriptedModel {
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
