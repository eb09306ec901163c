import { expect, test } from "vitest";
import { mcpAccess } from "./mcp-servers.ts";
import type { RuntimeMcpServer } from "./types.ts";

const server = (changes: Partial<RuntimeMcpServer> = {}): RuntimeMcpServer => ({
  name: "Projects",
  url: "http://paperclip.example:3100/api/mcp/project-tools",
  token: "t-1",
  connectionId: "connection-1",
  ...changes,
});
const access = (servers: RuntimeMcpServer[], apiUrl: string | null = null) =>
  mcpAccess({ runtimeMcp: { getServers: () => servers } }, apiUrl);

test("none offered, or an older host", () => {
  expect(access([])).toEqual({ servers: [], identity: "" });
  expect(mcpAccess({}, null)).toEqual({ servers: [], identity: "" });
});

test("servers of one name are kept apart", () => {
  const names = access([server(), server({ connectionId: "connection-2" }), server({ connectionId: "connection-2" })]).servers;
  expect(names.map(({ name }) => name)).toEqual(["Projects", "Projects-connecti", "Projects-connecti-3"]);
});

test("the identity follows what the servers are, not their tokens or order", () => {
  const [one, two] = [server(), server({ name: "Other", connectionId: "connection-2" })];
  expect(access([one, two]).identity).toBe(access([two, { ...one, token: "t-2" }]).identity);
  expect(access([one]).identity).not.toBe(access([one, two]).identity);
  expect(access([one]).identity).not.toBe(access([server({ url: "http://elsewhere" })]).identity);
});

test.each([
  ["http://127.0.0.1:3100/api/mcp?x=1", "https://paperclip.example", "https://paperclip.example/api/mcp?x=1"],
  ["http://localhost:3100/api/mcp", "http://server:3000/", "http://server:3000/api/mcp"],
  ["http://[::1]:3100/api/mcp", "http://server:3000", "http://server:3000/api/mcp"],
  ["http://tools.example/mcp", "http://server:3000", "http://tools.example/mcp"],
  ["http://127.0.0.1:3100/mcp", null, "http://127.0.0.1:3100/mcp"],
])("%s is reached by way of %s", (url, apiUrl, reached) => expect(access([server({ url })], apiUrl).servers[0]?.url).toBe(reached));
