import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inPlaceSettings } from "@paperclip-k8s/paperclip/testing/in-place-settings";
import { expect, onTestFinished, test } from "vitest";
import { claude } from "../agent-cli.ts";
import { builtIn } from "./built-in.ts";

const read = inPlaceSettings(claude);

test("an agent without a model has the host's default, where the host has one and nothing else names a model", async () => {
  expect((await read({})).config.model).toBe("claude-opus-5");
  expect((await read({}, { hasDefaultModel: false })).config.model).toBeNull();
  expect((await read({ model: "sonnet" })).config.model).toBe("sonnet");
  for (const env of [{ ANTHROPIC_MODEL: "m" }, { CLAUDE_CODE_USE_BEDROCK: "1" }, { CLAUDE_CODE_USE_VERTEX: "true" }])
    expect((await read({ env })).config.model).toBeNull();
});

test.each([
  [{ engine: "cli" }, []],
  [{ engine: "auto", mode: "persistent", nonInteractivePermissions: "deny", warmHandleIdleMs: 0, chrome: false }, []],
  [{ engine: "acp" }, [expect.stringContaining("engine: ")]],
  [{ mode: "oneshot" }, [expect.stringContaining("mode: ")]],
  [{ chrome: true, stateDir: "/x" }, [expect.stringContaining("chrome: "), expect.stringContaining("stateDir: ")]],
  [{ env: { CLAUDE_CONFIG_DIR: "/home/me/.claude" } }, [expect.stringContaining("CLAUDE_CONFIG_DIR left out")]],
])("%j warns of what it leaves out, and of nothing else", async (raw, warnings) => {
  expect((await read(raw)).config.warnings).toEqual(warnings);
});

/** What the host's form writes into every agent. */
const FORM = { timeoutSec: 0, graceSec: 15, maxTurnsPerRun: 1000, dangerouslySkipPermissions: true };

test.each([
  [{ permissionMode: "approve-all" }, true],
  [{ permissionMode: "approve-reads" }, false],
  [{ permissionMode: "deny-all" }, false],
  [{ permissionMode: "default", engine: "acp" }, false],
  [{ acpPermissionMode: "deny-all" }, false],
  [{ permissionMode: "approve-all", acpPermissionMode: "deny-all" }, true],
  [{ permissionMode: " ", acpPermissionMode: "deny-all" }, false],
  [{ dangerouslySkipPermissions: false }, false],
])("modes in which nobody can be asked switch the permissions off, whatever the form has stored: %j", async (raw, skips) => {
  expect((await read({ ...FORM, ...raw })).config.dangerouslySkipPermissions).toBe(skips);
});

test("the CLI engine looks at no mode of permissions, and a warning says so", async () => {
  const { config } = await read({ ...FORM, engine: "cli", permissionMode: "deny-all" });
  expect(config.dangerouslySkipPermissions).toBe(true);
  expect(config.warnings).toEqual([expect.stringContaining('permissionMode: "deny-all" is left out: with engine "cli"')]);
});

test.each([
  [{ effort: "low" }, "low"],
  [{ effort: "low", reasoningEffort: "high" }, "high"],
  [{ effort: "low", reasoningEffort: "high", modelReasoningEffort: "max" }, "max"],
  [{ engine: "cli", effort: "low", thinkingEffort: "high" }, "low"],
  [{ variant: "high" }, null],
])("effort of %j as in the host's engine: %s", async (raw, effort) => {
  expect((await read(raw)).config.effort).toBe(effort);
});

test("the operator's model counts before the host's default, for agents that name none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "policy.yaml");
  writeFileSync(file, "defaults: { model: claude-sonnet-5 }");
  const model = async (raw: Record<string, unknown>) => (await read(raw, undefined, { PAPERCLIP_K8S_POLICY: file })).config.model;
  expect(await model({ model: "" })).toBe("claude-sonnet-5");
  expect(await model({ model: "claude-haiku-4-5" })).toBe("claude-haiku-4-5");
});

test("the log has the CLI's own lines, unless somebody wants the others", async () => {
  expect((await read({})).config.logFormat).toBe("raw");
  expect((await read({ logFormat: "transcript" })).config.logFormat).toBe("transcript");
});

test("a session is looked for where the server's CLI keeps it, not where the agent says", () => {
  const session = { sessionId: "s", cwd: "/a b", madeIn: null, dataPath: "/d", volume: "/d", companyId: "c", agentId: "a", taskKey: null };
  const sources = (serverEnv: NodeJS.ProcessEnv) =>
    builtIn.sessions({ ...session, env: { CLAUDE_CONFIG_DIR: "/evil" }, serverEnv, serverHome: "/home/s", note: () => {} });
  expect(sources({})).toMatchObject([
    { path: "/home/s/.claude/projects/*/s.jsonl", under: "/home/s/.claude", to: ".claude/projects/-a-b" },
  ]);
  expect(sources({ CLAUDE_CONFIG_DIR: "/etc/claude" })).toMatchObject([{ path: "/etc/claude/projects/*/s.jsonl" }]);
});
