import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Llm } from "@paperclip-k8s/llm";
import * as claudeCli from "../packages/adapter-claude/src/cli.ts";
import * as claudeEntry from "../packages/adapter-claude/src/index.ts";
import * as opencodeCli from "../packages/adapter-opencode/src/cli.ts";
import * as opencodeEntry from "../packages/adapter-opencode/src/index.ts";

const MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));

/** An agent CLI that the demo can run, with the adapter that runs it. */
export interface DemoAgent {
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  readonly type: string;
  readonly version: string;
  readonly createServerAdapter: typeof opencodeEntry.createServerAdapter;
  readonly formatLine: typeof opencodeCli.formatLine;
  /** Settings that make the scripted LLM its model. */
  settings(llm: Llm): Readonly<Record<string, unknown>>;
}

// Asking a CLI itself for its version would leave folders in the user's home.
const versionOf = (name: string): string => JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf8")).version;

const opencode: DemoAgent = {
  ...opencodeEntry,
  ...opencodeCli,
  name: "opencode",
  title: "OpenCode",
  version: versionOf("opencode-ai"),
  // As an OpenCode provider, with prices, so that a cost can be shown.
  settings(llm) {
    const scripted = {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: `${llm.url}/v1`, apiKey: "not-a-key" },
      models: { "demo-1": { limit: { context: 100_000, output: 4096 }, cost: { input: 3, output: 15, cache_read: 0.3 } } },
    };
    const env = { PAPERCLIP_OPENCODE_PROVIDERS: JSON.stringify({ scripted }), OPENCODE_DISABLE_MODELS_FETCH: "1" };
    return { model: "scripted/demo-1", env };
  },
};

const claude: DemoAgent = {
  ...claudeEntry,
  ...claudeCli,
  name: "claude",
  title: "Claude Code",
  version: versionOf("@anthropic-ai/claude-code"),
  settings: (llm) => ({
    model: "claude-sonnet-5",
    env: {
      ANTHROPIC_BASE_URL: llm.url,
      ANTHROPIC_API_KEY: "not-a-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // A pod's user is never root; a process of the embedded cluster may be.
      IS_SANDBOX: "1",
    },
  }),
};

export const agents: readonly [DemoAgent, ...DemoAgent[]] = [opencode, claude];
