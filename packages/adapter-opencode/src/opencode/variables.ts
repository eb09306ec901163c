import { BEDROCK_VARIABLES, type CliVariables } from "@paperclip-k8s/paperclip";

/** Environment variables that OpenCode reads, or the host has for it. */
export const variables: CliVariables = {
  allowlist: ["ANTHROPIC_*", "OPENCODE_API_KEY", "OPENCODE_BASE_URL", "PAPERCLIP_OPENCODE_*", ...BEDROCK_VARIABLES],
  // It reads Claude Code's folders too.
  denylist: ["PAPERCLIP_OPENCODE_STORAGE_DIR", "CLAUDE_HOME", "CLAUDE_CONFIG_DIR"],
  removed: [],
};
