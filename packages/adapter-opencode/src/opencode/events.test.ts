import { expect, test } from "vitest";
import { loadFixture } from "../../fixtures/load.ts";
import { createParser } from "./parse.ts";

const describe = (line: string) => createParser().push(line);
const event = (fields: object) => JSON.stringify(fields);
const tool = (state: object) => event({ type: "tool_use", part: { tool: "t", callID: "c", state } });

test("one tool event is a call and its result", () => {
  expect(describe(loadFixture("tool-exit-code").lines[1]!)).toEqual([
    {
      kind: "tool_call",
      id: "call_1",
      tool: "bash",
      title: "echo about-to-fail >&2; exit 3",
      input: { command: "echo about-to-fail >&2; exit 3", description: "Fail on purpose" },
    },
    { kind: "tool_result", id: "call_1", tool: "bash", text: "about-to-fail\n", isError: false, exitCode: 3 },
  ]);
});

test.each([
  [{ input: { command: "ls", description: "List" } }, "ls"],
  [{ input: { filePath: "a.ts", content: "x" } }, "a.ts"],
  [{ input: { todos: [] }, title: "2 todos" }, "2 todos"],
  [{ input: { description: "Explore", prompt: "Long" } }, "Explore"],
  [{}, ""],
])("the title of %j is %j", (state, title) => {
  expect(describe(tool(state))[0]).toMatchObject({ kind: "tool_call", title });
});

test.each([
  [{ name: "APIError", data: { message: "no", statusCode: 429 } }, "APIError 429: no"],
  [{ name: "UnknownError", data: { message: "no" } }, "no"],
  [{ name: "APIError", data: { message: '{"error":{"message":"inner"}}' } }, "APIError: inner"],
  ["plain", "plain"],
])("the error %j reads %j", (error, text) => {
  expect(describe(event({ type: "error", error }))).toMatchObject([{ kind: "error", text }]);
});

test("a step that asked for tools goes on, any other may be the last", () => {
  const step = (reason: string) => describe(event({ type: "step_finish", part: { reason } }))[0];
  expect(step("tool-calls")).toMatchObject({ goesOn: true });
  expect(step("stop")).toMatchObject({ goesOn: false });
  expect(step("length")).toMatchObject({ goesOn: false });
});

test("progress means nothing, words that are no event are passed on, even those that look like ours", () => {
  expect(describe(event({ type: "step_start" }))).toEqual([]);
  expect(describe(" npm warn ")).toEqual([{ kind: "other", text: "npm warn" }]);
  expect(describe("[paperclip] not ours")).toEqual([{ kind: "other", text: "[paperclip] not ours" }]);
  expect(describe("  ")).toEqual([]);
});
