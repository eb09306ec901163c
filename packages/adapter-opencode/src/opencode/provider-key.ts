import { type EnvironmentCheck, type KnownVariables, providerKey } from "@paperclip-k8s/paperclip";
import { providerOf } from "./models.ts";

/** Variables OpenCode 1.18 reads a provider's key from; one of them is enough. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  groq: ["GROQ_API_KEY"],
  mistral: ["MISTRAL_API_KEY"],
  xai: ["XAI_API_KEY"],
  deepseek: ["DEEPSEEK_API_KEY"],
  "amazon-bedrock": ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"],
};

/** Where providers of the user's own are defined, with whatever key they need. */
const DEFINITIONS = ["PAPERCLIP_OPENCODE_PROVIDERS", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG"];

/** Whether the model's provider has its key, as far as names of variables show; nothing for providers we know nothing about. */
export function keyChecks(model: string | null, known: KnownVariables): readonly EnvironmentCheck[] {
  const provider = providerOf(model);
  const names = provider === null ? Object.values(KEYS).flat() : (KEYS[provider] ?? []);
  if (names.length === 0 || DEFINITIONS.some((name) => known.names.has(name))) return [];
  return [providerKey(provider ?? "any provider", names, known)];
}
