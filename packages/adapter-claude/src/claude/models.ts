import { ConfigError, createModelDiscovery, type Model, quote, withoutTrailing } from "@paperclip-k8s/paperclip";
import { usesBedrock } from "./provider.ts";

const TIMEOUT_MS = 5000;

/** A first choice for the form, from the ids that Claude Code 2.1.325 carries; any other can be typed in as well. */
export const models: readonly Model[] = [
  { id: "claude-opus-5-5", label: "Claude Opus 5.5" },
  { id: "claude-sonnet-5-5", label: "Claude Sonnet 5.5" },
  { id: "claude-haiku-5-5", label: "Claude Haiku 5.5" },
  { id: "claude-fable-5-2", label: "Claude Fable 5.2" },
  { id: "claude-opus-5", label: "Claude Opus 5" },
  { id: "claude-sonnet-5", label: "Claude Sonnet 5" },
  { id: "claude-opus-4-8", label: "Claude Opus 4.8" },
  { id: "claude-opus-4-7", label: "Claude Opus 4.7" },
  { id: "claude-opus-4-6", label: "Claude Opus 4.6" },
  { id: "claude-sonnet-4-6", label: "Claude Sonnet 4.6" },
  { id: "claude-sonnet-4-5", label: "Claude Sonnet 4.5" },
  { id: "claude-haiku-4-5", label: "Claude Haiku 4.5" },
];

/** The same on AWS Bedrock; other regions have their own first part. */
export const bedrockModels: readonly Model[] = [
  { id: "us.anthropic.claude-opus-5-5", label: "Bedrock Claude Opus 5.5 (US)" },
  { id: "us.anthropic.claude-sonnet-5-5", label: "Bedrock Claude Sonnet 5.5 (US)" },
  { id: "us.anthropic.claude-haiku-5-5", label: "Bedrock Claude Haiku 5.5 (US)" },
  { id: "us.anthropic.claude-opus-5", label: "Bedrock Claude Opus 5 (US)" },
  { id: "us.anthropic.claude-sonnet-5", label: "Bedrock Claude Sonnet 5 (US)" },
  { id: "us.anthropic.claude-opus-4-7", label: "Bedrock Claude Opus 4.7 (US)" },
  { id: "us.anthropic.claude-opus-4-6-v1", label: "Bedrock Claude Opus 4.6 (US)" },
  { id: "us.anthropic.claude-sonnet-4-6", label: "Bedrock Claude Sonnet 4.6 (US)" },
  { id: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", label: "Bedrock Claude Sonnet 4.5 (US)" },
  { id: "us.anthropic.claude-haiku-4-5-20251001-v1:0", label: "Bedrock Claude Haiku 4.5 (US)" },
];

type Env = NodeJS.ProcessEnv;

/** Bedrock's ids where the server uses it; else the static list, and what the API reports to the server's own key. */
export const createListModels = (now?: () => number): ((env: Env) => Promise<Model[]>) =>
  createModelDiscovery((env: Env) => (usesBedrock(env) ? bedrockModels : models), report, now);

async function report(env: Env): Promise<Model[]> {
  const key = env.ANTHROPIC_API_KEY?.trim();
  if (!key || usesBedrock(env)) return [];
  const base = withoutTrailing(env.ANTHROPIC_BASE_URL?.trim() || "https://api.anthropic.com", "/");
  const headers = { "x-api-key": key, "anthropic-version": "2023-06-01" };
  const answer = await fetch(`${base}/v1/models?limit=100`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) return [];
  const { data } = (await answer.json()) as { data?: { id?: unknown; display_name?: unknown }[] };
  return (data ?? []).flatMap(({ id, display_name: name }) =>
    typeof id === "string" && id !== "" ? [{ id, label: typeof name === "string" && name !== "" ? name : id }] : [],
  );
}

/** No provider and no gateway has such a name, and the CLI takes one that begins with "-" for an option. */
export function checkModel(model: string, key: string): void {
  if (/^-|\s/.test(model))
    throw new ConfigError(key, `must be one name without spaces, such as ${models[0]!.id} or sonnet, not ${quote(model)}`);
}
