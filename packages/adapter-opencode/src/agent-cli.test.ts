import type { CliTurn } from "@paperclip-k8s/paperclip";
import { expect, test } from "vitest";
import { opencode } from "./agent-cli.ts";
import type { OwnSettings } from "./opencode/settings.ts";

type Turn = CliTurn<OwnSettings>;

function plan(changes: Partial<Turn> = {}, settings: object = {}, own: object = {}) {
  const config = {
    model: "anthropic/claude-sonnet-4-6",
    effort: null,
    command: null,
    extraArgs: [],
    env: {},
    dangerouslySkipPermissions: true,
  };
  return opencode.plan({
    config: { ...config, ...settings, own: { fastStart: true, titleByModel: false, ...own } } as unknown as Turn["config"],
    agentId: "agent-1",
    env: { values: {}, names: new Set() },
    maybeSet: new Set(),
    sessionId: null,
    title: "Fix it",
    promptBytes: 10,
    bundle: null,
    mcpServers: [],
    without: [],
    ...changes,
  });
}

test("a new session has the issue's title, unless the model or the agent is to choose", async () => {
  const title = "--title=Fix it";
  expect((await plan()).argv).toContain(title);
  expect((await plan({ sessionId: "ses_1" })).argv).not.toContain(title);
  expect((await plan({}, {}, { titleByModel: true })).argv).not.toContain(title);
  expect((await plan({}, { extraArgs: ["--title", "own"] })).argv).not.toContain(title);
});

test("without a fast start nothing is left out", async () => {
  const { files, defaults, plainEnv } = await plan({}, {}, { fastStart: false });
  expect([files, defaults]).toEqual([undefined, undefined]);
  expect(Object.keys(plainEnv).sort()).toEqual([
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_LOG_LEVEL",
    "OPENCODE_PRINT_LOGS",
  ]);
});

test("a key that a Secret may bring keeps its provider", async () => {
  const kept = async (maybeSet: readonly string[]) =>
    Object.keys(JSON.parse((await plan({ maybeSet: new Set(maybeSet) })).files!["opencode-models.json"]!));
  expect([await kept([]), (await kept(["MISTRAL_API_KEY"])).includes("mistral")]).toEqual([["anthropic"], true]);
});
