import { randomUUID } from "node:crypto";
import type { Fixture } from "@paperclip-k8s/llm/fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CliName } from "../../../packages/adapters.ts";
import { type AgentRun, type Agents, openAgents, SECRET, TOKEN } from "./agents.ts";
import { loadRecording, placeRecordedCli, type RecordedCli } from "./recorded-cli.ts";

// What the real CLIs were recorded to say, through whole runs: what the host gets of each end.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

const place = (cli: CliName, recordings: readonly (string | Fixture)[], hold = false): Promise<RecordedCli> =>
  placeRecordedCli(`${stage.tools}/${randomUUID()}`, cli, recordings, { hold });

async function play(cli: CliName, recordings: readonly (string | Fixture)[], run: Partial<AgentRun> = {}) {
  const recorded = await place(cli, recordings);
  const ran = await stage.run({ cli, prompt: "hello", task: randomUUID(), ...run, config: { command: recorded.command, ...run.config } });
  return { ...ran, calls: await recorded.calls() };
}

const LATER = { conversationContinuation: "continue_conversation_v1" };
/** Nothing was used, and somebody has to change something. */
const refused = (cause: string) => ({
  errorCode: "configuration_incomplete",
  executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
  resultJson: { cause },
  summary: expect.stringMatching(/Then comment here or set this issue to todo\.$/),
});

test.concurrent.each<[CliName, string, object, RegExp]>([
  ["opencode", "unauthorized", { exitCode: 1, ...refused("auth_required") }, /Scripted refusal: invalid API key/],
  ["opencode", "unknown-model", { exitCode: 1, ...refused("model_not_found") }, /scripted\/nothing/],
  ["opencode", "model-error", refused("llm_request_refused"), /the request is not valid/],
  ["opencode", "overloaded", { exitCode: 1, errorFamily: "transient_upstream" }, /overloaded/],
  ["opencode", "retrying", { exitCode: null, signal: "SIGTERM", errorCode: "provider_quota", errorFamily: "provider_quota" }, /quota/],
  ["opencode", "output-limit", { exitCode: 1, errorCode: "adapter_failed", resultJson: LATER }, /output limit \(exit code 0\)/],
  ["opencode", "permission-rejected", { exitCode: 1, errorCode: "adapter_failed" }, /Permission rejected: external_directory/],
  ["claude", "unauthorized", refused("claude_auth_required"), /401 Scripted refusal: invalid API key.*set ANTHROPIC_API_KEY/],
  ["claude", "unknown-model", refused("model_not_found"), /issue with the selected model/],
  ["claude", "model-error", refused("llm_request_refused"), /400 Scripted refusal: the request is not valid/],
  [
    "claude",
    "prompt-too-long",
    { errorCode: "configuration_incomplete", clearSession: true, resultJson: { cause: "context_overflow", ...LATER } },
    /Prompt is too long/,
  ],
  ["claude", "quota", { errorCode: "provider_quota", errorFamily: "provider_quota", resultJson: LATER }, /429.*quota exceeded/],
  ["claude", "overloaded", { errorCode: "claude_transient_upstream", errorFamily: "transient_upstream", resultJson: LATER }, /529/],
  ["claude", "refusal", { errorCode: "claude_refusal", errorFamily: "model_refusal", resultJson: { stopReason: "refusal" } }, /./],
  ["claude", "empty", { errorCode: "llm_api_error" }, /returned nothing/],
  ["claude", "usage-limit", { errorCode: "provider_quota", retryNotBefore: "2030-03-17T17:46:40.000Z" }, /hit your 5-hour limit/],
  [
    "claude",
    "max-turns",
    { errorCode: "max_turns_exhausted", clearSession: true, sessionId: null, resultJson: { stopReason: "max_turns_exhausted" } },
    /maximum number of turns \(2\)/,
  ],
  ["claude", "unknown-option", refused("configuration_incomplete"), /--no-such-option/],
])("%s, %s: a failure with its cause", async (cli, recording, reported, message) => {
  const { result, log } = await play(cli, [recording]);
  expect(result, log).toMatchObject({ errorMessage: expect.stringMatching(message), ...reported });
  // The transcript says why, once, where the page folds nothing away.
  const errors = [...log.matchAll(/^(?:stdout: )?✖ (.*)$/gm)].map(([, text = ""]) => text);
  expect(
    errors.filter((text) => message.test(text) || result.errorMessage?.includes(text)),
    log,
  ).toHaveLength(1);
});

test.concurrent.each<[CliName, string, object]>([
  ["opencode", "success", { usage: { inputTokens: 400, cachedInputTokens: 800, outputTokens: 57 }, summary: "Hello from the script." }],
  ["opencode", "compaction", { usage: { outputTokens: 171 }, costUsd: 0.019845, summary: "All done: scripted answer." }],
  // It exits with 1 although it went on after the overflow and gave its answer.
  ["opencode", "context-overflow", { summary: "All done: scripted answer." }],
  ["claude", "success", { usage: { inputTokens: 460, cachedInputTokens: 800, outputTokens: 57 }, costUsd: 0.00168, billingType: "api" }],
  ["claude", "background", { summary: "All done: scripted answer." }],
])("%s, %s: a success with what it used", async (cli, recording, reported) => {
  const { result, log } = await play(cli, [recording]);
  expect(result, log).toMatchObject({ exitCode: 0, signal: null, timedOut: false, usageBasis: "per_run", ...reported });
  expect([result.errorMessage, result.errorCode]).toEqual([undefined, undefined]);
});

test.concurrent.each<[CliName]>([["opencode"], ["claude"]])(
  "%s: a log of raw lines has them as they were written, and the same result",
  async (cli) => {
    const raw = { logFormat: "raw" };
    const { result, log } = await play(cli, ["tool-call"], { config: raw });
    expect(result, log).toMatchObject({ exitCode: 0, summary: "All done: scripted answer." });
    const lines = log.split("\n").map((line) => line.replace(/^stdout: ?/, ""));
    expect(lines.filter((line) => line.startsWith("{"))).toEqual(loadRecording(cli, "tool-call").lines);
    expect(log).toMatch(/^system: \[paperclip\] CLI ended: exit code 0/m);
    const failed = await play(cli, ["model-error"], { config: raw });
    expect(failed.log).toMatch(/^(?:stdout: ?)?✖ .*the request is not valid/m);
  },
);

const made = (...events: object[]): Fixture =>
  ({ lines: events.map((event) => JSON.stringify(event)), stderr: "", exitCode: 0, signal: null }) as Fixture;
const STRANGE = [{ type: "turn.started", id: 1 }, { type: "turn.completed" }];

test.concurrent.each<[CliName, string]>([
  ["opencode", "adapter_failed"],
  ["claude", "claude_truncated"],
])("%s: an output of unknown events alone is a failure, also with exit code 0", async (cli, errorCode) => {
  const { result, log } = await play(cli, [made(...STRANGE)]);
  expect(result, log).toMatchObject({
    errorCode,
    errorMessage: expect.stringMatching(/2 events.*knows none.* "turn\.started".*\(exit code 0\)/),
  });
});

test.concurrent.each([
  [{ exitCode: 3, signal: null }, { exitCode: 3, signal: null }, /^The CLI failed after it had reported success \(exit code 3\)/],
  [
    { exitCode: null, signal: "SIGKILL" },
    { exitCode: null, signal: "SIGKILL" },
    /^The CLI was ended by SIGKILL after it had reported success/,
  ],
])("claude: %j after it reported success is a failure, with what it used and its session", async (end, shown, errorMessage) => {
  const { result, log } = await play("claude", [{ ...loadRecording("claude", "success"), ...end } as Fixture]);
  expect(result, log).toMatchObject({ ...shown, errorCode: "adapter_failed", errorMessage: expect.stringMatching(errorMessage) });
  expect(result).toMatchObject({ usage: { outputTokens: 57 }, costUsd: 0.00168, sessionId: expect.any(String) });
});

test.concurrent.each<[CliName]>([["opencode"], ["claude"]])("%s: an unknown event beside known ones is one warning", async (cli) => {
  const known = loadRecording(cli, "success");
  const strange = STRANGE.map((event) => JSON.stringify(event));
  const { result, log } = await play(cli, [{ ...known, lines: [...strange, ...known.lines] }]);
  expect(result, log).toMatchObject({ exitCode: 0, summary: "Hello from the script." });
  expect(log.match(/event of type "turn\.\w+"/g), log).toEqual(['event of type "turn.started"']);
});

test.concurrent.each<[CliName, string, string, string, RegExp]>([
  ["opencode", "unknown-session", "success", "ses_0000000000000000000000000a", /session ses_0+a is not known.*starting a fresh one/],
  ["claude", "unknown-session", "success", randomUUID(), /session .* is not known to the CLI any more/],
  ["claude", "corrupted-session", "success", randomUUID(), /session .* cannot go on \(API Error: .*\); starting a fresh one/],
])("%s, %s: reported, and one fresh attempt in the same run", async (cli, first, second, sessionId, note) => {
  const { result, log, calls } = await play(cli, [first, second], { session: { sessionId } });
  expect(result, log).toMatchObject({ exitCode: 0, summary: "Hello from the script." });
  expect(log).toMatch(note);
  expect(calls.map(({ args }) => args.includes(sessionId))).toEqual([true, false]);
});

test.concurrent("a session id of another CLI is not tried", async () => {
  const { log, calls } = await play("claude", ["success"], { session: { sessionId: "ses_1" } });
  expect(log).toMatch(/session ses_1 is not an id of this CLI/);
  expect(calls).toHaveLength(1);
});

test.concurrent("the session of one run is handed to the next one of its task", async () => {
  const conversation = { agent: randomUUID(), task: "issue-1" };
  const first = await play("claude", ["success"], conversation);
  expect(first.result.sessionId, first.log).toMatch(/^[0-9a-f-]{36}$/);
  expect(first.calls[0]?.stdin).toContain("hello");
  const next = await play("claude", ["resumed"], { ...conversation, session: first.session });
  expect(next.log).toContain("session restored (saved ");
  expect(next.calls[0]?.args.join(" ")).toContain(`--resume ${first.result.sessionId}`);
});

test.concurrent("no secret, token or prompt is in the Job, in a log line, in onMeta's arguments or in an error", async () => {
  const recorded = await place("opencode", ["model-error"], true);
  const run = { cli: "opencode", agent: randomUUID(), prompt: "secret-prompt-words", config: { command: recorded.command } } as const;
  let shown = "";
  const onLine = async (line: string) => {
    if (!line.endsWith("CLI started")) return;
    const objects = await Promise.all((["jobs", "pods", "events"] as const).map((kind) => stage.bed.list(kind)));
    shown = JSON.stringify(objects.flat().filter((object) => JSON.stringify(object).includes(run.agent)));
    await recorded.release();
  };
  const { result, log, meta } = await stage.run({ ...run, onLine: (line) => void onLine(line) });
  expect((await recorded.calls())[0]?.stdin).toContain("secret-prompt-words");
  expect(shown).toContain("agent-opencode-");
  expect(result.errorMessage).toMatch(/Scripted refusal/);
  const texts = [shown, log, JSON.stringify(result)];
  for (const secret of [SECRET, TOKEN]) for (const text of [...texts, JSON.stringify(meta)]) expect(text).not.toContain(secret);
  for (const text of texts) expect(text).not.toContain("secret-prompt-words");
});

test.concurrent.each([
  [{ namespace: "" }, /^Namespace: must be set/],
  [{ image: "no image" }, /^Image: must be an image reference/],
  [{ model: "gpt-5.6" }, /^Model: must be provider\/model, such as openai\/gpt-5\.6, not "gpt-5\.6"$/],
  [{ env: { PAPERCLIP_OPENCODE_PROVIDERS: `{"key":"${SECRET}"` } }, /^PAPERCLIP_OPENCODE_PROVIDERS: is not valid JSON$/],
])("bad settings are refused by name before the CLI is started: %j", async (config, message) => {
  const { result, calls, log } = await play("opencode", ["success"], { config });
  expect(result).toMatchObject({ exitCode: null, errorCode: "configuration_incomplete", errorMessage: expect.stringMatching(message) });
  expect(log).toContain(`✖ Not started: ${result.errorMessage}`);
  expect(calls).toEqual([]);
});

test.concurrent("ids that cannot be path parts are refused", async () => {
  const { result, calls } = await play("opencode", ["success"], { agent: "../../etc" });
  expect(result).toMatchObject({ resultJson: { cause: "k8s_agent_id_invalid" }, errorMessage: expect.stringContaining("agent.id") });
  expect(calls).toEqual([]);
});

test.concurrent("an image without Node: what is missing is named, before any retry", async () => {
  const bare = await openAgents({ images: { "agent:1": { path: [`${stage.bed.data}/empty`] } } });
  try {
    const { result } = await bare.run({ cli: "claude", prompt: "hello" });
    expect(result).toMatchObject({
      errorCode: "configuration_incomplete",
      errorMessage: expect.stringMatching(/"node".*Image agent:1 has no Node: use one with Node ≥ 18/),
    });
  } finally {
    await bare.stop();
  }
});

test.concurrent("a host that never takes the metadata has its time for it, and then its result", async () => {
  const { result } = await play("claude", ["success"], { hostTimeoutMs: 200, change: { onMeta: () => new Promise<void>(() => {}) } });
  expect(result).toMatchObject({ exitCode: 0, summary: "Hello from the script." });
  expect(result.errorCode).toBeUndefined();
});
