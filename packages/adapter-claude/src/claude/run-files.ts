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
  /** For the settings file. */
  readonly settings: object;
}

/** A hook after each tool call that shortens its output. */
export function toolOutputFilter(maxBytes: number): ToolOutputFilter {
  const command = `node "$${SCRIPT_VARIABLE}" ${maxBytes}`;
  return {
    files: { [SCRIPT]: filterText },
    env: { [SCRIPT_VARIABLE]: `${INPUT_MOUNT}/${SCRIPT}` },
    settings: { hooks: { PostToolUse: [{ matcher: "*", hooks: [{ type: "command", command, timeout: 30 }] }] } },
  };
}

const SIGN_IN = /^(ANTHROPIC_(API_KEY|AUTH_TOKEN|BASE_URL)|CLAUDE_CODE_(OAUTH_TOKEN|USE_\w+))$/;

/** What a project's settings would otherwise replace: the account of the host's, and where its key is sent. */
export function accountSettings(env: Readonly<Record<string, string>>): object {
  const own = Object.entries(env).filter(([name]) => SIGN_IN.test(name));
  return { apiKeyHelper: "", env: Object.fromEntries(own) };
}

/** Settings as a file of the run's Secret, for `--settings`: they come on top of the project's and the user's own, and hooks of all are run. */
export function settingsFile(
  ...parts: readonly object[]
): { readonly file: string; readonly files: Readonly<Record<string, string>> } | null {
  return parts.length === 0 ? null : { file: SETTINGS, files: { [SETTINGS]: JSON.stringify(Object.assign({}, ...parts)) } };
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
