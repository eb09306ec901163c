import type { Argument } from "@paperclip-k8s/engine";
import { pluginText } from "../../../generated/plugin-text.ts";

const CONFIG = "opencode-config.json";
const PLUGIN = "opencode-plugin.mjs";

/** A plugin that prints what sub-agents use; its lists in all of OpenCode's settings are added up, so that a user's own plugins stay. */
export const ourPlugin: {
  /** Names the plugin. */
  readonly config: string;
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, Argument>>;
} = {
  config: CONFIG,
  files: {
    [CONFIG]: JSON.stringify({ $schema: "https://opencode.ai/config.json", plugin: [`./${PLUGIN}`] }),
    [PLUGIN]: pluginText,
  },
  env: { OPENCODE_CONFIG: { file: CONFIG } },
};
