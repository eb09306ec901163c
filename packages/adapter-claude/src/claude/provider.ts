import { type Billing, type EnvironmentCheck, type KnownVariables, providerKey, type RunEnvironment } from "@paperclip-k8s/paperclip";

type Env = Readonly<Record<string, string | undefined>>;

const isOn = (value: string | undefined): boolean => /^(1|true|yes|on)$/i.test(value?.trim() ?? "");

/** Whether the CLI will talk to AWS Bedrock, by the same variables that it reads. */
export function usesBedrock(env: Env): boolean {
  return isOn(env.CLAUDE_CODE_USE_BEDROCK) || Boolean(env.ANTHROPIC_BEDROCK_BASE_URL?.trim());
}

/** Bedrock has ids of its own: `us.anthropic.claude-…`, `anthropic.claude-…`, or an ARN. */
export function isBedrockModel(model: string): boolean {
  return /^(?:[a-z-]+\.)?anthropic\.|^arn:aws[\w-]*:bedrock:/.test(model);
}

/** Whether the model is known to be somewhere else than at Anthropic: a cloud's, or one behind an address of the user's own. */
export function isElsewhere(env: Env): boolean {
  if (usesBedrock(env) || isOn(env.CLAUDE_CODE_USE_VERTEX) || isOn(env.CLAUDE_CODE_USE_FOUNDRY)) return true;
  const url = env.ANTHROPIC_BASE_URL?.trim() ?? "";
  return URL.canParse(url) && !/(^|\.)anthropic\.com$/i.test(new URL(url).hostname);
}

/** Who is paid for a run with this environment. */
export function billing({ values, names }: RunEnvironment): Billing {
  const provider = "anthropic";
  if (usesBedrock(values)) return { provider, biller: "aws_bedrock", type: "metered_api" };
  if (isOn(values.CLAUDE_CODE_USE_VERTEX)) return { provider, biller: "google_vertex", type: "metered_api" };
  // The CLI takes a key before a subscription's token.
  const byKey = names.has("ANTHROPIC_API_KEY") || names.has("ANTHROPIC_AUTH_TOKEN");
  return { provider, biller: provider, type: byKey ? "api" : "subscription" };
}

const ANTHROPIC = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
const BEDROCK = ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"];
const VERTEX = ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"];

/** Whether the CLI will find credentials, by the names of variables. */
export function keyChecks(known: KnownVariables): readonly EnvironmentCheck[] {
  if (usesBedrock(known.values)) return [providerKey("AWS Bedrock", BEDROCK, known)];
  if (known.names.has("CLAUDE_CODE_USE_VERTEX")) return [providerKey("Google Vertex", VERTEX, known)];
  return [providerKey("Anthropic", ANTHROPIC, known)];
}
