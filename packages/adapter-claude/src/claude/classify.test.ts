import { expect, test } from "vitest";
import { loadFixture } from "../../fixtures/load.ts";
import { classify } from "./classify.ts";
import { createParser } from "./parse.ts";
import { finalLinePattern, takenBackBy } from "./turn-result.ts";

const now = Date.parse("2026-01-10T13:00:00Z");

function classifyLines(lines: readonly string[], stderr = "") {
  const parser = createParser();
  for (const line of lines) parser.push(line);
  return classify(parser.run(), stderr, now);
}

const classifyFixture = (name: string) => {
  const { lines, stderr } = loadFixture(name);
  return classifyLines(lines, stderr);
};

test.each(["success", "tool-call", "tool-error", "tool-exit-code", "thinking", "resumed", "background", "empty"])(
  "%s is no fault",
  (name) => {
    expect(classifyFixture(name)).toBeNull();
  },
);

test.each<[string, object]>([
  ["max-turns", { kind: "step-limit", message: "Reached maximum number of turns (2)" }],
  ["refusal", { kind: "refusal", code: "claude_refusal", message: expect.stringContaining("can't help with this") }],
  ["output-limit", { kind: "other", message: expect.stringContaining("output token maximum") }],
  ["model-error", { kind: "bad-request", message: "API Error: 400 Scripted refusal: the request is not valid." }],
  [
    "unauthorized",
    {
      kind: "auth",
      code: "claude_auth_required",
      message: expect.stringMatching(/401/),
      remedy: expect.stringMatching(/^set ANTHROPIC_API_KEY/),
    },
  ],
  [
    "not-logged-in",
    { kind: "auth", message: expect.stringMatching(/^Not logged in/), remedy: expect.stringContaining("claude setup-token") },
  ],
  ["unknown-model", { kind: "model-not-found", message: expect.stringContaining("claude-sonnet-5") }],
  ["prompt-too-long", { kind: "context-overflow" }],
  ["quota", { kind: "quota", retryAfterSec: null }],
  ["usage-limit", { kind: "quota", retryAt: 1_900_000_000_000, message: expect.stringContaining("5-hour limit") }],
  ["overloaded", { kind: "transient", code: "claude_transient_upstream" }],
  ["broken-off", { kind: "transient" }],
  ["corrupted-session", { kind: "corrupted-session" }],
  ["bad-image", { kind: "corrupted-session" }],
  ["unknown-session", { kind: "unknown-session" }],
  ["unknown-option", { kind: "bad-arguments", message: expect.stringContaining("--no-such-option") }],
  ["retrying", { kind: "transient", message: expect.stringContaining("overloaded (529)") }],
])("%s", (name, fault) => expect(classifyFixture(name)).toMatchObject(fault));

test("an older CLI without --effort can be asked again without it", () => {
  expect(classifyLines([], "error: unknown option '--effort'\n")).toMatchObject({ unknownOption: "--effort" });
  expect(classifyLines([], "error: unknown option '--effort'\n")?.code).toBeUndefined();
});

test("an output without a result is truncated: with the model and what to check", () => {
  const { lines } = loadFixture("tool-call");
  expect(classifyLines(lines.slice(0, 3))).toMatchObject({
    kind: "truncated",
    code: "claude_truncated",
    message: expect.stringMatching(/started with model claude-sonnet-5, but its output ends without a result: check/),
  });
});

test("without any output the exit code is the better evidence", () => expect(classifyLines([], "Killed\n")).toBeNull());

const failed = (text: string, more = {}) =>
  JSON.stringify({ type: "result", subtype: "success", is_error: true, num_turns: 1, result: text, ...more });

test.each<[string, object, string]>([
  ["Claude AI usage limit reached|1900000000", {}, "quota"],
  ["Credit balance is too low", {}, "quota"],
  ["Invalid API key · Please run /login", {}, "auth"],
  ["API Error: 403 denied", { api_error_status: 403 }, "auth"],
  ["API Error: 500 odd", { api_error_status: 500 }, "transient"],
  ["API Error: 400 messages.3: `tool_use` ids were found without `tool_result` blocks", { api_error_status: 400 }, "corrupted-session"],
  ["something odd", {}, "other"],
])("%s is %s", (text, more, kind) => expect(classifyLines([failed(text, more)])).toMatchObject({ kind }));

test("a page to log in at is named", () => {
  const fault = classifyLines([failed("Not logged in")], "Open https://claude.ai/oauth/authorize?code=1 in a browser\n");
  expect(fault?.remedy).toContain("log in at https://claude.ai/oauth/authorize?code=1");
});

test("a refusal that exits cleanly is one all the same", () => {
  const clean = JSON.stringify({ type: "result", subtype: "success", is_error: false, stop_reason: "refusal", result: "I won't." });
  expect(classifyLines([clean])).toMatchObject({ kind: "refusal", message: "The model declined to answer: I won't." });
});

test("what the assistant or a tool wrote is never taken for an error", () => {
  const words = "No conversation found with session ID: 1. 429 usage limit reached, invalid api key, could not process image";
  const text = JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: words }] } });
  const tool = JSON.stringify({ type: "user", message: { content: [{ type: "tool_result", content: words, is_error: true }] } });
  expect(classifyLines([text, tool, ...loadFixture("success").lines, words], `npm: ${words}\n`)).toBeNull();
});

test("the final line is the result, wherever its type stands, and no tool's words", () => {
  const pattern = new RegExp(finalLinePattern);
  for (const name of ["success", "max-turns", "unknown-session", "background"]) {
    const found = loadFixture(name).lines.filter((line) => pattern.test(line));
    expect(found).toEqual(loadFixture(name).lines.filter((line) => JSON.parse(line).type === "result"));
  }
  const input = { type: "result", num_turns: 1 };
  expect(pattern.test(JSON.stringify({ type: "assistant", message: { content: [{ type: "tool_use", input }] } }))).toBe(false);
  expect(loadFixture("background").lines.filter((line) => new RegExp(takenBackBy).test(line))).toHaveLength(2);
});
