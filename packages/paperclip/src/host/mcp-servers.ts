import { withoutTrailing } from "@paperclip-k8s/engine";
import { sha256 } from "../sha256.ts";
import type { ExecutionContext, RuntimeMcpServer } from "./types.ts";

/** A tool server as the pod reaches it. */
export type McpServer = Omit<RuntimeMcpServer, "connectionId">;

export interface McpAccess {
  readonly servers: readonly McpServer[];
  /** Tells one set of servers from another, whatever their tokens; empty = none. */
  readonly identity: string;
}

/** The tool servers the host offers to a run; each has a name of its own. `apiUrl` is the host's API as pods reach it. */
export function mcpAccess(ctx: Pick<ExecutionContext, "runtimeMcp">, apiUrl: string | null): McpAccess {
  const offered = ctx.runtimeMcp?.getServers() ?? [];
  const names = new Set<string>();
  const servers = offered.map(({ name, url, token, connectionId }) => ({
    name: unusedName(name, connectionId, names),
    url: reachable(url, apiUrl),
    token,
  }));
  const identities = offered.map(({ name, url, connectionId }) => JSON.stringify([name, url, connectionId])).sort();
  const identity = identities.length === 0 ? "" : sha256(identities.join("\n")).slice(0, 32);
  return { servers, identity };
}

function unusedName(name: string, connectionId: string, taken: Set<string>): string {
  let free = name;
  for (let suffix = connectionId.slice(0, 8), count = 2; taken.has(free); count++)
    free = `${name}-${suffix}${count === 2 ? "" : `-${count}`}`;
  taken.add(free);
  return free;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** A loopback address of the server is another machine's in the pod. */
export function reachable(url: string, apiUrl: string | null): string {
  if (apiUrl === null || !URL.canParse(url) || !URL.canParse(apiUrl)) return url;
  const { hostname, pathname, search } = new URL(url);
  return LOOPBACK.test(hostname) ? `${withoutTrailing(apiUrl, "/")}${pathname}${search}` : url;
}
