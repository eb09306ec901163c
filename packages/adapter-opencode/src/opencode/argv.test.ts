import { expect, test } from "vitest";
import { loadFixture } from "../../fixtures/load.ts";
import { argv } from "./argv.ts";
import { finalLinePattern } from "./events.ts";
import { models, providerOf } from "./models.ts";

test("only what is set is passed on, extra arguments last", () => {
  expect(argv()).toEqual(["opencode", "run", "--format", "json"]);
  expect(argv({ sessionId: "ses_1", model: "a/b", variant: "high", thinking: true, extraArgs: ["--agent", "plan"] })).toEqual([
    "opencode",
    "run",
    "--format",
    "json",
    "--session",
    "ses_1",
    "--model",
    "a/b",
    "--variant",
    "high",
    "--thinking",
    "--agent",
    "plan",
  ]);
  expect(argv({ sessionId: "", model: null, variant: "" })).toHaveLength(4);
});

test.each([
  ["success", [2]],
  ["tool-call", [5]],
  ["output-limit", [2]],
  ["permission-rejected", []],
  ["unauthorized", [0]],
  ["compaction", [5, 9]],
  ["context-overflow", [3, 7]],
])("final lines of %s", (name, expected) => {
  const pattern = new RegExp(finalLinePattern);
  const matching = loadFixture(name).lines.flatMap((line, index) => (pattern.test(line) ? [index] : []));
  expect(matching).toEqual(expected);
});

test("what a tool printed does not look like the end", () => {
  const line = JSON.stringify({ type: "tool_use", part: { state: { output: '{"type":"error", "reason":"stop"}' } } });
  expect(new RegExp(finalLinePattern).test(line)).toBe(false);
});

test("models are provider/model", () => {
  for (const { id, label } of models) expect([providerOf(id), label]).not.toContain(null);
  expect(providerOf("openrouter/anthropic/x")).toBe("openrouter");
  expect(providerOf("no-slash")).toBeNull();
});
