import { INPUT_MOUNT } from "@paperclip-k8s/engine";
import type { McpServer } from "@paperclip-k8s/paperclip";
import { filterText } from "../../generated/filter-text.ts";

const SCRIPT = "tool-output-filter.cjs";
const SETTINGS = "claude-settings.json";
/** The hook finds its script through a variable, because the path depends on the pod's mounts. */
const SCRIPT_VARIABLE = "PAPERCLIP_TOOL_OUTPUT_FILTER";

interface ToolOutputFilter {
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Name of the settings file, for `--settings`. */
  readonly settings: string;
}

/** A hook after each tool call that shortens its output. Settings given by file come on top of the user's own, hooks of both are run. */
export function toolOutputFilter(maxBytes: number): ToolOutputFilter {
  const command = `node "$${SCRIPT_VARIABLE}" ${maxBytes}`;
  const settings = { hooks: { PostToolUse: [{ matcher: "*", hooks: [{ type: "command", command, timeout: 30 }] }] } };
  return {
    files: { [SCRIPT]: filterText, [SETTINGS]: JSON.stringify(settings) },
    env: { [SCRIPT_VARIABLE]: `${INPUT_MOUNT}/${SCRIPT}` },
    settings: SETTINGS,
  };
}

const MCP_FILE = "mcp-servers.json";

/** The host's tool servers as a file of the run's Secret: their tokens stand nowhere else. */
export function mcpConfig(
  servers: readonly McpServer[],
): { readonly file: string; readonly files: Readonly<Record<string, string>> } | null {
  if (servers.length === 0) return null;
  const entries = servers.map(({ name, url, token }) => [name, { type: "http", url, headers: { Authorization: `Bearer ${token}` } }]);
  return { file: MCP_FILE, files: { [MCP_FILE]: JSON.stringify({ mcpServers: Object.fromEntries(entries) }) } };
}
