import { inPlaceSettings } from "@paperclip-k8s/paperclip/testing/in-place-settings";
import { expect, test } from "vitest";
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

test("modes in which nobody can be asked switch the permissions off", async () => {
  expect((await read({ permissionMode: "approve-all" })).config.dangerouslySkipPermissions).toBe(true);
  for (const mode of ["approve-reads", "deny-all", "default"])
    expect((await read({ permissionMode: mode })).config.dangerouslySkipPermissions).toBe(false);
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
