import { BEDROCK_VARIABLES, type CliVariables } from "@paperclip-k8s/paperclip";

/** Environment variables that Claude Code reads. */
export const variables: CliVariables = {
  allowlist: [
    ...["ANTHROPIC_*", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_OAUTH_TOKEN", ...BEDROCK_VARIABLES],
    // What an operator may want otherwise than quiet-start.ts has it.
    ...["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_GROWTHBOOK"],
  ],
  denylist: ["CLAUDE_HOME", "CLAUDE_CONFIG_DIR"],
  removed: ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION", "CLAUDE_CODE_PARENT_SESSION"],
};
