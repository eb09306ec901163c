import type { CliReport } from "../agent-cli/agent-cli.ts";

/** The report of a CLI that has said nothing; stand-ins for one say what differs. */
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
