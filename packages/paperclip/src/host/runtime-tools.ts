import { reachable } from "./mcp-servers.ts";
import type { RuntimeTools } from "./types.ts";

/** The host's connections as variables, under the names that agents know from its own adapters. `apiUrl` is the host's API as pods reach it. */
export function runtimeToolsEnv(tools: RuntimeTools, apiUrl: string | null): Record<string, string> {
  const { guidance, mcpEndpoint, rest, bearerToken, expiresAt } = tools;
  return {
    PAPERCLIP_RUNTIME_TOOLS_MCP_URL: reachable(mcpEndpoint, apiUrl),
    PAPERCLIP_RUNTIME_TOOLS_TOKEN: bearerToken,
    PAPERCLIP_RUNTIME_TOOLS_EXPIRES_AT: expiresAt,
    PAPERCLIP_RUNTIME_TOOLS_CONNECTIONS_SEARCH_URL: reachable(rest.connectionsSearch, apiUrl),
    PAPERCLIP_RUNTIME_TOOLS_CONNECTION_REQUEST_URL: reachable(rest.connectionRequest, apiUrl),
    PAPERCLIP_RUNTIME_TOOLS_AVAILABLE: tools.tools.join(","),
    PAPERCLIP_RUNTIME_TOOLS_GUIDANCE: guidance,
  };
}
