import { recordOf, textOf, textsOf } from "./context-values.ts";
import { reachable } from "./mcp-servers.ts";
import type { RuntimeTools } from "./types.ts";

/** The host's connections as variables, under the names that agents know from its own adapters. `apiUrl` is the host's API as pods reach it. */
export function runtimeToolsEnv(tools: RuntimeTools, apiUrl: string | null): Record<string, string> {
  // A later host may have other fields; what is not there is no variable.
  const rest = recordOf(tools.rest);
  const url = (value: unknown): string | null => (textOf(value) === null ? null : reachable(String(value), apiUrl));
  const env = {
    PAPERCLIP_RUNTIME_TOOLS_MCP_URL: url(tools.mcpEndpoint),
    PAPERCLIP_RUNTIME_TOOLS_TOKEN: textOf(tools.bearerToken),
    PAPERCLIP_RUNTIME_TOOLS_EXPIRES_AT: textOf(tools.expiresAt),
    PAPERCLIP_RUNTIME_TOOLS_CONNECTIONS_SEARCH_URL: url(rest.connectionsSearch),
    PAPERCLIP_RUNTIME_TOOLS_CONNECTION_REQUEST_URL: url(rest.connectionRequest),
    PAPERCLIP_RUNTIME_TOOLS_AVAILABLE: textsOf(tools.tools).join(","),
    PAPERCLIP_RUNTIME_TOOLS_GUIDANCE: textOf(tools.guidance),
  };
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])));
}
