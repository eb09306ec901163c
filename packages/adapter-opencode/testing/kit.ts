import type { AdapterKit } from "../../adapters.ts";
import { opencode } from "../src/agent-cli.ts";
import { formatLine } from "../src/cli.ts";
import { createServerAdapter } from "../src/index.ts";
import { growSession } from "./grow-session.ts";
import { scriptedModel } from "./scripted-model.ts";

export const kit: AdapterKit = {
  title: "OpenCode",
  cli: opencode,
  createServerAdapter,
  formatLine,
  scriptedModel,
  start: { env: {}, uncut: { own: { fastStart: false, titleByModel: true } } },
  longCommands: { OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS: "1200000" },
  sessionFolders: [],
  accounts: [{ provider: "openrouter", method: "api_key", model: "openrouter/anthropic/claude-sonnet-4.5" }],
  growSession,
};
