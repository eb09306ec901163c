import type { CliPlan, CliTurn } from "@paperclip-k8s/paperclip";
import { expect, test } from "vitest";
import { claude } from "./agent-cli.ts";
import type { OwnSettings } from "./claude/settings.ts";

type Turn = CliTurn<OwnSettings>;

const config = {
  model: "claude-opus-5-5",
  effort: null,
  command: null,
  extraArgs: [],
  env: {},
  dangerouslySkipPermissions: true,
};
const own = { maxTurnsPerRun: 0, enableRtk: false, rtkMaxOutputBytes: 50_000 };

function plan(changes: Partial<Turn> = {}, settings: object = {}, values: Record<string, string> = {}, references: string[] = []) {
  return claude.plan({
    config: { ...config, ...settings, own: { ...own, ...settings } } as unknown as Turn["config"],
    agentId: "agent-1",
    env: { values, names: new Set([...Object.keys(values), ...references]) },
    sessionId: null,
    bundle: null,
    mcpServers: [],
    without: [],
    title: null,
    promptBytes: 0,
    maybeSet: new Set<string>(),
    ...changes,
  }) as CliPlan;
}

test("sessions and settings live in the agent's folder, unless the agent has a folder of its own", () => {
  expect(plan().plainEnv).toEqual({ CLAUDE_CONFIG_DIR: "/agent/home/.claude", DISABLE_AUTOUPDATER: "1" });
  expect(plan({}, { env: { CLAUDE_CONFIG_DIR: "/data/mine" } }).plainEnv).not.toHaveProperty("CLAUDE_CONFIG_DIR");
});

test("the provider's records tell agents apart, and the user's headers stay", () => {
  expect(plan().secretEnv).toEqual({ ANTHROPIC_CUSTOM_HEADERS: "X-Anthropic-Agent-Id: agent-1" });
  expect(plan({}, {}, { ANTHROPIC_CUSTOM_HEADERS: "X-Own: 1" }).secretEnv).toEqual({
    ANTHROPIC_CUSTOM_HEADERS: "X-Own: 1\nX-Anthropic-Agent-Id: agent-1",
  });
  expect(plan({}, {}, {}, ["ANTHROPIC_CUSTOM_HEADERS"]).secretEnv).toEqual({});
});

test("on Bedrock only its own ids are passed", () => {
  const bedrock = { CLAUDE_CODE_USE_BEDROCK: "1" };
  expect(plan({}, {}, bedrock).argv).not.toContain("--model");
  expect(plan({}, {}, bedrock).notes.join()).toContain("no Bedrock id");
  expect(plan({}, { model: "us.anthropic.claude-opus-5-5" }, bedrock).argv).toContain("us.anthropic.claude-opus-5-5");
  expect(plan().argv).toContain("claude-opus-5-5");
});

test("effort is passed, unless the CLI in the image does not know it", () => {
  expect(plan({}, { effort: "high" }).argv).toContain("--effort");
  expect(plan({ without: ["--effort"] }, { effort: "high" }).argv).not.toContain("--effort");
});

test("tool servers stand in a file of the run's Secret, their tokens nowhere else", () => {
  const { argv, files, notes, plainEnv } = plan({ mcpServers: [{ name: "p", url: "http://x/mcp", token: "t0ken" }] });
  expect(argv).toContainEqual({ file: "mcp-servers.json" });
  expect(JSON.parse(files!["mcp-servers.json"]!)).toEqual({
    mcpServers: { p: { type: "http", url: "http://x/mcp", headers: { Authorization: "Bearer t0ken" } } },
  });
  expect(JSON.stringify([argv, notes, plainEnv])).not.toContain("t0ken");
});

test("the filter: a hook in settings of its own, its script beside it", () => {
  const { argv, files, plainEnv } = plan({}, { enableRtk: true, rtkMaxOutputBytes: 7000 });
  expect(argv).toContainEqual({ file: "claude-settings.json" });
  expect(JSON.parse(files!["claude-settings.json"]!).hooks.PostToolUse[0].hooks[0].command).toBe(
    'node "$PAPERCLIP_TOOL_OUTPUT_FILTER" 7000',
  );
  expect(plainEnv.PAPERCLIP_TOOL_OUTPUT_FILTER).toMatch(/\/tool-output-filter\.cjs$/);
  expect(files).toHaveProperty(["tool-output-filter.cjs"]);
  expect(plan({}, { enableRtk: true, extraArgs: ["--settings", "mine.json"] }).notes.join()).toContain(
    "unless the --settings of Extra args",
  );
});

test("an account of the host's: its key and the blanks beside it stand above a project's settings, in a file of the run's Secret", () => {
  const env = {
    ANTHROPIC_API_KEY: "",
    CLAUDE_CODE_OAUTH_TOKEN: "t0ken",
    CLAUDE_CODE_USE_BEDROCK: "",
    ANTHROPIC_CUSTOM_HEADERS: "X: 1",
    OTHER: "o",
  };
  const { argv, files, plainEnv } = plan({}, { env, account: "subscription", enableRtk: true });
  expect(argv).toContainEqual({ file: "claude-settings.json" });
  expect(JSON.parse(files!["claude-settings.json"]!)).toEqual({
    hooks: expect.anything(),
    apiKeyHelper: "",
    env: { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "t0ken", CLAUDE_CODE_USE_BEDROCK: "" },
  });
  expect(JSON.stringify([argv, plainEnv])).not.toContain("t0ken");
  expect(plan({}, { env }).files).toEqual({});
});

test("its own context management is known to the host", () => {
  expect(claude.sessionManagement).toMatchObject({ nativeContextManagement: "confirmed", supportsSessionResume: true });
  expect(claude.sessionManagement.defaultSessionCompaction).toMatchObject({ maxSessionRuns: 0, maxRawInputTokens: 0 });
});
