import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { claudeModel, type Llm, openCodeModel, scriptedSettings } from "@paperclip-k8s/llm";
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
  // With prices, so that a cost can be shown.
  settings: (llm) => scriptedSettings(openCodeModel(llm, { name: "demo-1" })),
};

const claude: DemoAgent = {
  ...claudeEntry,
  ...claudeCli,
  name: "claude",
  title: "Claude Code",
  version: versionOf("@anthropic-ai/claude-code"),
  settings: (llm) => scriptedSettings(claudeModel(llm)),
};

export const agents: readonly [DemoAgent, ...DemoAgent[]] = [opencode, claude];
