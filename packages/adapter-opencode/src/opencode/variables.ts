import { BEDROCK_VARIABLES, type CliVariables } from "@paperclip-k8s/paperclip";

/** Environment variables that OpenCode reads, or the host has for it. */
export const variables: CliVariables = {
  allowlist: [
    ...["ANTHROPIC_*", "OPENCODE_API_KEY", "OPENCODE_BASE_URL", "PAPERCLIP_OPENCODE_*", ...BEDROCK_VARIABLES],
    // What an operator may want otherwise than fast-start.ts has it.
    ...["OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_MODELS_URL", "OPENCODE_DISABLE_DEFAULT_PLUGINS"],
    ...["OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER"],
  ],
  // It reads Claude Code's folders too.
  denylist: ["PAPERCLIP_OPENCODE_STORAGE_DIR", "CLAUDE_HOME", "CLAUDE_CONFIG_DIR"],
  removed: [],
};
