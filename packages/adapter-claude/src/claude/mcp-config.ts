import type { McpServer } from "@paperclip-k8s/paperclip";

const FILE = "mcp-servers.json";

/** The host's tool servers as a file of the run's Secret: their tokens stand nowhere else. */
export function mcpConfig(
  servers: readonly McpServer[],
): { readonly file: string; readonly files: Readonly<Record<string, string>> } | null {
  if (servers.length === 0) return null;
  const entries = servers.map(({ name, url, token }) => [name, { type: "http", url, headers: { Authorization: `Bearer ${token}` } }]);
  return { file: FILE, files: { [FILE]: JSON.stringify({ mcpServers: Object.fromEntries(entries) }) } };
}
