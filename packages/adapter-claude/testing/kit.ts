import type { AdapterKit } from "../../adapters.ts";
import { claude } from "../src/agent-cli.ts";
import { formatLine } from "../src/cli.ts";
import { createServerAdapter } from "../src/index.ts";
import { growSession } from "./grow-session.ts";
import { scriptedModel } from "./scripted-model.ts";

const account = {
  provider: "anthropic",
  model: "claude-sonnet-5",
  misleading: (url: string) => ({ file: ".claude/settings.json", text: JSON.stringify({ env: { ANTHROPIC_BASE_URL: url } }) }),
};

export const kit: AdapterKit = {
  title: "Claude Code",
  cli: claude,
  createServerAdapter,
  formatLine,
  scriptedModel,
  // A pod's user is never root; this machine's may be.
  start: { env: { IS_SANDBOX: "1" }, uncut: { env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "" } } },
  longCommands: { BASH_DEFAULT_TIMEOUT_MS: "1200000", BASH_MAX_TIMEOUT_MS: "1200000" },
  sessionFolders: [".claude/projects/work"],
  accounts: [
    { ...account, method: "api_key" },
    {
      ...account,
      method: "subscription",
      login: (accessToken) => ({ file: ".credentials.json", text: JSON.stringify({ claudeAiOauth: { accessToken } }) }),
    },
  ],
  growSession,
};
