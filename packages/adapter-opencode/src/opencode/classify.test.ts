import { expect, test } from "vitest";
import { loadFixture } from "../../fixtures/load.ts";
import { classify } from "./classify.ts";
import { createParser } from "./parse.ts";

function classifyLines(lines: readonly string[], stderr: string) {
  const parser = createParser();
  for (const line of lines) parser.push(line);
  return classify(parser.result(), stderr);
}

function classifyFixture(name: string) {
  const { lines, stderr } = loadFixture(name);
  return classifyLines(lines, stderr);
}

const apiError = (message: string, data: object = {}) =>
  JSON.stringify({ type: "error", error: { name: "APIError", data: { message, ...data } } });

test.each(["success", "tool-call", "tool-error", "tool-exit-code", "resumed", "reasoning", "step-limit", "compaction", "context-overflow"])(
  "%s is no failure",
  (name) => {
    expect(classifyFixture(name)).toBeNull();
  },
);

test.each([
  ["unknown-session", "unknown-session", "Session not found"],
  ["unauthorized", "auth", "Scripted refusal: invalid API key."],
  ["unknown-model", "model-not-found", "Model not found: scripted/nothing."],
  ["unknown-provider", "model-not-found", "Model not found: nowhere/nothing."],
  ["overloaded", "transient", "Scripted refusal: overloaded."],
  ["retrying", "quota", "Scripted refusal: quota exceeded."],
  ["output-limit", "other", "The model's answer reached its output limit"],
  ["permission-rejected", "other", "Permission rejected: external_directory (/etc/*)"],
  ["model-error", "bad-request", "Scripted refusal: the request is not valid."],
])("%s is %s", (name, kind, message) => {
  expect(classifyFixture(name)).toMatchObject({ kind, message });
});

test("an overflow that stands is one", () => {
  expect(classifyLines(loadFixture("context-overflow").lines.slice(0, 1), "")).toMatchObject({ kind: "context-overflow" });
});

test.each([
  ["You exceeded your current quota, please check your plan", 403, "quota"],
  ["Your credit balance is too low", 400, "quota"],
  ["slow down", 429, "quota"],
  ["invalid x-api-key", 401, "auth"],
  ["denied", 403, "auth"],
  ["prompt is too long: 210000 tokens > 200000 maximum", 400, "context-overflow"],
  ["nope", 529, "transient"],
  ["Cannot connect to API: ECONNREFUSED", null, "transient"],
  ["The model `gpt-9` does not exist or you do not have access to it.", 404, "model-not-found"],
  ["something odd", 400, "bad-request"],
  ["something odd", 418, "other"],
])("%s (%s) is %s", (message, statusCode, kind) => {
  expect(classifyLines([apiError(message, { statusCode })], "")).toMatchObject({ kind, message });
});

test("a provider's time to wait is kept, and a JSON message is made readable", () => {
  const message = JSON.stringify({ error: { message: "Rate limit reached" } });
  const line = apiError(message, { statusCode: 429, responseHeaders: { "retry-after": "90" } });
  expect(classifyLines([line], "")).toEqual({ kind: "quota", message: "Rate limit reached", retryAfterSec: 90 });
});

test("what the assistant, a tool or a user's program wrote is never taken for an error", () => {
  const words = "Error: Session not found. 429 quota exceeded, invalid API key, overloaded";
  const text = JSON.stringify({ type: "text", part: { id: "1", text: words } });
  const tool = JSON.stringify({ type: "tool_use", part: { id: "2", tool: "bash", state: { status: "error", error: words } } });
  const end = JSON.stringify({ type: "step_finish", part: { id: "3", reason: "stop" } });
  expect(
    classifyLines([text, tool, end, words], "npm error: Session not found\n  Error: invalid API key (indented, of some child)"),
  ).toBeNull();
});

test("a run that stopped after a tool call is reported as that", () => {
  expect(classifyLines(loadFixture("tool-call").lines.slice(0, 3), "")).toMatchObject({
    kind: "other",
    message: expect.stringContaining("stopped after a tool call"),
  });
  expect(classifyLines([], "")).toBeNull();
});

test("events of unknown types alone cannot be read, beside known ones they are left out", () => {
  const strange = JSON.stringify({ type: "turn.started" });
  expect(classifyLines([strange], "")).toMatchObject({ kind: "truncated", message: expect.stringContaining('"turn.started"') });
  expect(classifyLines([strange, ...loadFixture("success").lines], "")).toBeNull();
  expect(classifyLines([strange], "Error: no such file")).toMatchObject({ message: "no such file" });
});

test("a provider without an address is unknown", () => {
  const line = apiError('"undefined/chat/completions" cannot be parsed as a URL.');
  expect(classifyLines([line], "")).toMatchObject({ kind: "model-not-found", message: "The model's provider is not known to OpenCode" });
});

test("a failed title is no failed run", () => {
  const stderr =
    'timestamp=x level=ERROR run=1 message="stream error" small=true agent=title error.error="AI_APICallError: quota exceeded"';
  expect(classifyLines([], stderr)).toBeNull();
});

test("usage in place of an error means that an argument was not accepted", () => {
  const failure = classify(createParser().result(), "opencode run [message..]\n\nrun opencode with a message\n\nPositionals:\n");
  expect(failure).toMatchObject({ kind: "bad-arguments", message: expect.stringContaining("printed its usage") });
});
