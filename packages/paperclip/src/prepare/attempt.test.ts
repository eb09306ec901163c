import { expect, test } from "vitest";
import type { AgentCli, CliTurn } from "../agent-cli/agent-cli.ts";
import { inPlaceOf } from "../built-in/in-place.ts";
import { parseConfig } from "../settings/parse.ts";
import { exampleInputs } from "../testing/example-attempt.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { hostContext } from "../testing/host-context.ts";
import { environmentOf, firstStart, prepareAttempt } from "./attempt.ts";

function inheritedWith(from: readonly object[] = []) {
  const { inherited } = exampleInputs();
  const claim = { name: "c", mountPath: "/data", subPath: null };
  return { ...inherited, claim, env: { ...inherited.env, from, hidden: [] } as never };
}

async function turnWith(from: readonly object[]): Promise<CliTurn> {
  const turns: CliTurn[] = [];
  const plan = (turn: CliTurn) => {
    turns.push(turn);
    return Promise.resolve({ argv: ["node"] as const, plainEnv: {}, secretEnv: {}, notes: [] });
  };
  const inputs = exampleInputs({
    ctx: hostContext({ context: { paperclipIssue: { title: "Fix it" } } }).ctx,
    cli: { ...exampleCli, plan },
    config: parseConfig({ dataPath: "/data" }, {}, exampleCli),
    inherited: inheritedWith(from),
    serverEnv: { SERVER_KEY: "k" },
  });
  const { prompt } = await prepareAttempt(inputs, firstStart(null, null));
  expect(turns[0]?.promptBytes).toBe(Buffer.byteLength(prompt.text));
  return turns[0]!;
}

test("a blank value of the agent's hides what is inherited: its name counts as not set", () => {
  const { inherited } = exampleInputs();
  const references = ["BY_REFERENCE", "HIDDEN_REFERENCE"].map((name) => ({ name, valueFrom: {} }));
  const found = environmentOf({
    config: { env: { KEY: "k", HIDDEN: "", HIDDEN_REFERENCE: "" } } as never,
    inherited: { ...inherited, env: { literals: { HIDDEN: "server's", OTHER: "o" }, references, from: [], hidden: [] } as never },
  });
  expect(found.names).toEqual(new Set(["KEY", "OTHER", "BY_REFERENCE"]));
  expect(found.values).toEqual({ KEY: "k", OTHER: "o", HIDDEN: "", HIDDEN_REFERENCE: "" });
});

const runtimeTools = {
  guidance: "Search first.",
  mcpEndpoint: "http://127.0.0.1:3100/mcp/runtime-tools",
  rest: { connectionsSearch: "http://127.0.0.1:3100/search", connectionRequest: "http://paperclip:3100/request" },
  bearerToken: "tools-token",
  expiresAt: "2026-01-01T00:00:00Z",
  tools: ["connections_search", "connection_request"],
};

test.each([
  ["environment", true],
  ["native_mcp", false],
] as const)(
  "the host's connections of a type with %s: as variables = %s, in the Secret, by an address that pods reach",
  async (delivery, isSet) => {
    const builtIn = { type: "example_local", settings: [], accountVariables: [], runtimeToolDelivery: delivery, sessions: () => [] };
    const inputs = (cli: AgentCli) =>
      exampleInputs({
        ctx: hostContext({ change: { runtimeTools } }).ctx,
        cli,
        config: parseConfig({ dataPath: "/data", env: { PAPERCLIP_RUNTIME_TOOLS_TOKEN: "own" } }, {}, exampleCli),
        inherited: inheritedWith(),
        serverEnv: { PAPERCLIP_API_URL: "http://server:3100" },
      });
    const { env } = await prepareAttempt(inputs(inPlaceOf({ ...exampleCli, builtIn })), firstStart(null, null));
    expect(env.secret).toMatchObject(
      isSet
        ? {
            PAPERCLIP_RUNTIME_TOOLS_MCP_URL: "http://server:3100/mcp/runtime-tools",
            PAPERCLIP_RUNTIME_TOOLS_TOKEN: "tools-token",
            PAPERCLIP_RUNTIME_TOOLS_EXPIRES_AT: "2026-01-01T00:00:00Z",
            PAPERCLIP_RUNTIME_TOOLS_CONNECTIONS_SEARCH_URL: "http://server:3100/search",
            PAPERCLIP_RUNTIME_TOOLS_CONNECTION_REQUEST_URL: "http://paperclip:3100/request",
            PAPERCLIP_RUNTIME_TOOLS_AVAILABLE: "connections_search,connection_request",
            PAPERCLIP_RUNTIME_TOOLS_GUIDANCE: "Search first.",
          }
        : { PAPERCLIP_RUNTIME_TOOLS_TOKEN: "own" },
    );
    expect(JSON.stringify(env.plain)).not.toContain("RUNTIME_TOOLS");
    const own = await prepareAttempt(inputs({ ...exampleCli, builtIn }), firstStart(null, null));
    expect(JSON.stringify(own.env)).not.toContain("tools-token");
  },
);

test("a CLI's plan knows the issue's title, and which names a Secret taken over whole may bring", async () => {
  expect(await turnWith([])).toMatchObject({ title: "Fix it", maybeSet: new Set() });
  expect((await turnWith([{ secret: "whole" }])).maybeSet).toEqual(new Set(["SERVER_KEY"]));
});
