import { type EnvironmentCheck, type KnownVariables, providerKey } from "@paperclip-k8s/paperclip";
import { usesBedrock } from "./provider.ts";

const ANTHROPIC = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
const BEDROCK = ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"];
const VERTEX = ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"];

/** Whether the CLI will find credentials, by the names of variables. */
export function keyChecks(known: KnownVariables): readonly EnvironmentCheck[] {
  if (usesBedrock(known.values)) return [providerKey("AWS Bedrock", BEDROCK, known)];
  if (known.names.has("CLAUDE_CODE_USE_VERTEX")) return [providerKey("Google Vertex", VERTEX, known)];
  return [providerKey("Anthropic", ANTHROPIC, known)];
}
