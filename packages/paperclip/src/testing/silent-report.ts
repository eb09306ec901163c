import type { CliReport } from "../agent-cli/agent-cli.ts";

/** The report of a CLI without output; stand-ins change what they need. */
export const silentReport: CliReport = {
  sessionId: null,
  text: "",
  model: null,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: null,
  errors: [],
  recovered: [],
  finished: false,
  events: 0,
};
