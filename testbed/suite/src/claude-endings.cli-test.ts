import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claude } from "../../../packages/adapter-claude/src/agent-cli.ts";
import { type Agents, openAgents } from "./agents.ts";

// The real Claude Code CLI: how its runs end, and what the host gets.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

const SUBSCRIPTION = { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-scripted" };

/** Nothing was used, and somebody has to change something. */
const refused = (cause: string) => ({
  errorCode: "configuration_incomplete",
  executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
  resultJson: { cause },
});

test.concurrent.each<[string, object, RegExp, Record<string, string>?]>([
  ["unauthorized", refused("claude_auth_required"), /401 Scripted refusal: invalid API key.*set ANTHROPIC_API_KEY/],
  ["no-such-model", refused("model_not_found"), /issue with the selected model/],
  ["model-error", refused("llm_request_refused"), /400 Scripted refusal: the request is not valid/],
  ["quota", { errorCode: "provider_quota", errorFamily: "provider_quota" }, /429.*quota exceeded/],
  ["overloaded", { errorCode: "claude_transient_upstream", errorFamily: "transient_upstream" }, /529 Scripted refusal: overloaded/],
  ["break-off", { errorCode: "claude_transient_upstream", errorFamily: "transient_upstream" }, /Connection .*ECONNRESET/],
  ["refuse", { errorCode: "claude_refusal", errorFamily: "model_refusal", resultJson: { stopReason: "refusal" } }, /can't help with this/],
  ["say-nothing", { errorCode: "llm_api_error" }, /returned nothing/],
  [
    "usage-limit",
    { errorCode: "provider_quota", errorFamily: "provider_quota", retryNotBefore: "2030-03-17T17:46:40.000Z", billingType: "subscription" },
    /hit your 5-hour limit/,
    SUBSCRIPTION,
  ],
  ["hello", refused("claude_auth_required"), /Not logged in/, { ANTHROPIC_API_KEY: "" }],
])("%s", async (task, reported, message, env) => {
  const { result } = await stage.run({ cli: "claude", prompt: task, env });
  expect(result).toMatchObject({ exitCode: 1, errorMessage: expect.stringMatching(message), ...reported });
  // What the model has worked on goes on in the same session.
  expect(result.resultJson?.conversationContinuation).toBe("executionRecovery" in reported ? undefined : "continue_conversation_v1");
  expect(result.sessionId).toMatch(/^[0-9a-f-]{36}$/);
});

test("a prompt that is too long: somebody has to change something, and the next run begins a new session", async () => {
  const { result } = await stage.run({ cli: "claude", prompt: "too-long" });
  expect(result).toMatchObject({
    errorCode: "configuration_incomplete",
    errorMessage: expect.stringMatching(/Prompt is too long/),
    clearSession: true,
    sessionId: null,
    resultJson: { cause: "context_overflow", conversationContinuation: "continue_conversation_v1" },
  });
});

test("the turn limit: its code, the session cleared, what was used kept", async () => {
  const { result } = await stage.run({ cli: "claude", prompt: "endless-steps", config: { maxTurnsPerRun: 2 } });
  expect(result).toMatchObject({
    exitCode: 1,
    errorCode: "max_turns_exhausted",
    errorMessage: expect.stringContaining("maximum number of turns (2)"),
    clearSession: true,
    sessionId: null,
    usage: { outputTokens: 114 },
    resultJson: { stopReason: "max_turns_exhausted" },
  });
  expect(result.costUsd).toBeGreaterThan(0);
});

test.each([
  ["a session that is gone", "say:fresh start", { sessionId: randomUUID() }, /session .* is not known to the CLI any more/],
  ["an id of another CLI", "say:fresh start", { sessionId: "ses_1" }, /session ses_1 is not an id of this CLI/],
])("%s: reported, and a fresh one in the same run", async (_, task, session, note) => {
  const { result, log } = await stage.run({ cli: "claude", prompt: task, session });
  expect(result).toMatchObject({ exitCode: 0, summary: "fresh start" });
  expect(log).toMatch(note);
  expect(result.sessionId).not.toBe(session.sessionId);
});

test.each(["corrupted-session", "bad-image"])(
  "%s: a session that can only fail is reported, and a fresh one made in the same run",
  async (task) => {
    const agent = randomUUID();
    const first = await stage.run({ cli: "claude", agent, prompt: "say:one" });
    const { result, log } = await stage.run({ cli: "claude", agent, prompt: task, session: first.result.sessionParams ?? null });
    expect(result).toMatchObject({ exitCode: 0, summary: "All done: scripted answer." });
    expect(result.sessionId).not.toBe(first.result.sessionId);
    expect(log).toMatch(/session .* cannot go on \(API Error: .*\); starting a fresh one/);
  },
);

test("a command left in the background is given its time, then ended with the run; that is reported, and the run has succeeded", async () => {
  const finalLine = { ...claude.finalLine!, endAfterSec: 1 };
  const task = 'call:Bash {"command":"sleep 55","run_in_background":true}';
  const { result, log } = await stage.run({ cli: "claude", prompt: task, changeCli: (cli) => ({ ...cli, finalLine }) });
  expect(result).toMatchObject({ exitCode: 0, signal: null, summary: "All done: scripted answer.", resultJson: { leftoversEnded: true } });
  expect(result.errorMessage).toBeUndefined();
  expect(log).toContain("after its final line");
});

test("a command in the background that ends in time wakes the model again", async () => {
  const finalLine = { ...claude.finalLine!, endAfterSec: 3 };
  const { result, turns } = await stage.run({
    cli: "claude",
    prompt: 'call:Bash {"command":"sleep 1","run_in_background":true}',
    changeCli: (cli) => ({ ...cli, finalLine }),
  });
  expect(result).toMatchObject({ exitCode: 0, usage: { outputTokens: 3 * 57 } });
  expect(turns).toHaveLength(3);
  expect(result.resultJson).not.toHaveProperty("leftoversEnded");
});

test("a CLI that is killed in the middle: by what, with its session and what it has used", async () => {
  // By then it has written its session to its file; killed at once, it sometimes has not, and the run says that none is kept.
  const { result } = await stage.run({ cli: "claude", prompt: "bash:sleep 1; kill -9 $PPID" });
  expect(result).toMatchObject({
    errorMessage: expect.stringMatching(/^The CLI was ended by SIGKILL/),
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    usage: { outputTokens: 57 },
    costUsd: null,
  });
});

test("an older CLI that does not know --effort is started again without it", async () => {
  const command = join(stage.tools, "older-claude");
  const refuses = `case " $* " in *" --effort "*) echo "error: unknown option '--effort'" >&2; exit 1;; esac`;
  await writeFile(command, `#!/bin/sh\n${refuses}\nexec claude "$@"\n`, { mode: 0o755 });
  const { result, log, turns } = await stage.run({ cli: "claude", prompt: "say:fine", config: { command, effort: "high" } });
  expect(result).toMatchObject({ exitCode: 0, summary: "fine" });
  expect(log).toContain("does not know --effort; starting it again without that");
  expect(turns).toHaveLength(1);
});

test("an option that the CLI does not know: named, and refused as a setting", async () => {
  const { result } = await stage.run({ cli: "claude", prompt: "hello", config: { extraArgs: ["--no-such-option"] } });
  expect(result).toMatchObject({ errorCode: "configuration_incomplete", errorMessage: expect.stringContaining("--no-such-option") });
});
