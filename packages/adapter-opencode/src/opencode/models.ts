import { ConfigError, type Model, quote } from "@paperclip-k8s/paperclip";

/** A first choice for the form, from the list that OpenCode 1.18.33 carries; any `provider/model` that OpenCode knows can be typed in as well. */
export const models: readonly Model[] = [
  { id: "anthropic/claude-sonnet-5", label: "Claude Sonnet 5" },
  { id: "anthropic/claude-opus-5-5", label: "Claude Opus 5.5" },
  { id: "anthropic/claude-opus-5", label: "Claude Opus 5" },
  { id: "anthropic/claude-opus-4-7", label: "Claude Opus 4.7" },
  { id: "anthropic/claude-sonnet-4-6", label: "Claude Sonnet 4.6" },
  { id: "anthropic/claude-haiku-4-5", label: "Claude Haiku 4.5" },
  { id: "openai/gpt-5.6", label: "GPT-5.6" },
  { id: "openai/gpt-5.3-codex", label: "GPT-5.3 Codex" },
  { id: "openai/gpt-5.4-mini", label: "GPT-5.4 mini" },
  { id: "openai/gpt-4o", label: "GPT-4o" },
  { id: "google/gemini-3.1-pro-preview", label: "Gemini 3.1 Pro (preview)" },
  { id: "google/gemini-3.8-flash", label: "Gemini 3.8 Flash" },
  { id: "google/gemini-2.5-pro", label: "Gemini 2.5 Pro" },
  { id: "google/gemini-2.5-flash", label: "Gemini 2.5 Flash" },
  { id: "openrouter/anthropic/claude-sonnet-5", label: "Claude Sonnet 5 (OpenRouter)" },
];

/** The provider in `provider/model`; null when there is no slash. */
export function providerOf(model: string | null | undefined): string | null {
  const slash = model?.indexOf("/") ?? -1;
  return slash > 0 ? model!.slice(0, slash) : null;
}

/** OpenCode takes the text before the first slash for the provider: without both parts it ends with a stack trace. */
export function checkModel(model: string, key: string): void {
  if (/^[^/\s-][^/\s]*\/\S/.test(model)) return;
  const same = models.find(({ id }) => id.endsWith(`/${model}`))?.id;
  throw new ConfigError(key, `must be provider/model, such as ${same ?? models[0]!.id}, not ${quote(model)}`);
}
