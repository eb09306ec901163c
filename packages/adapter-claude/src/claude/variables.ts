import type { CliVariables } from "@paperclip-k8s/paperclip";

/** A model on Amazon Bedrock needs a region, and a token or a key. */
const BEDROCK = [
  ...["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
];

/** Environment variables that Claude Code reads. */
export const variables: CliVariables = {
  allowlist: ["ANTHROPIC_*", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_OAUTH_TOKEN", ...BEDROCK],
  denylist: ["CLAUDE_HOME", "CLAUDE_CONFIG_DIR"],
  removed: ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION", "CLAUDE_CODE_PARENT_SESSION"],
};
