import type { CliVariables } from "@paperclip-k8s/paperclip";

/** A model on Amazon Bedrock needs a region, and a token or a key. */
const BEDROCK = [
  ...["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
];

/** Environment variables that OpenCode reads, or the host has for it. */
export const variables: CliVariables = {
  allowlist: ["ANTHROPIC_*", "OPENCODE_API_KEY", "OPENCODE_BASE_URL", "PAPERCLIP_OPENCODE_*", ...BEDROCK],
  // It reads Claude Code's folders too.
  denylist: ["PAPERCLIP_OPENCODE_STORAGE_DIR", "CLAUDE_HOME", "CLAUDE_CONFIG_DIR"],
  removed: [],
};
