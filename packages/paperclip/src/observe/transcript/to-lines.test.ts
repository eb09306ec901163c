import type * as host from "@paperclipai/adapter-utils";
import { expect, expectTypeOf, test } from "vitest";
import type { Entry, ToolCallEntry } from "../../agent-cli/entry.ts";
import { parseLine, type TranscriptEntry } from "./parse-line.ts";
import { TranscriptLines } from "./to-lines.ts";

const toLines = (...entries: Entry[]): string[] => new TranscriptLines().push(entries);

const call = (tool: string, title: string, input: unknown, id = "call_1"): ToolCallEntry => ({ kind: "tool_call", id, tool, title, input });
const result = (text: string, exitCode: number | null = null): Entry => ({
  kind: "tool_result",
  id: "call_1",
  tool: "bash",
  text,
  isError: false,
  exitCode,
});
const noTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

test.each<[string, Entry, string[]]>([
  ["an answer", { kind: "assistant", text: "\n\nFirst:\n\n    code\n\n" }, ["● First:", "│", "│     code"]],
  ["a thought", { kind: "thinking", text: "hm\r\nwell" }, ["◌ hm", "┊ well"]],
  ["no text", { kind: "assistant", text: " \n " }, []],
  ["a command", call("bash", "ls -l", { command: "ls -l", description: "List" }), ["▸ bash  ls -l"]],
  ["a command of several lines", call("bash", "cat <<E\na\nE", { command: "cat <<E\na\nE" }), ["▸ bash  cat <<E ⏎ a ⏎ E"]],
  ["a file", call("read", "a b.txt", { filePath: "a b.txt", limit: 5 }), ["▸ read  a b.txt"]],
  ["a title of the CLI's own", call("todo", "2 todos", { todos: [1, 2] }), ["▸ todo  2 todos"]],
  ["no title", call("todo", "", { todos: ["tea ⏎"] }), ['▸ todo  {"todos":["tea \\⏎"]}']],
  ["nothing at all", call("todo", " ", {}), ["▸ todo"]],
  ["a name with blanks", call("my tool", "x", {}), ["▸ my_tool  x"]],
  ["an output", result("one\n\ntwo\n"), ["✓ one ⏎ two"]],
  ["no output", result(" \n"), ["✓ (no output)"]],
  ["the sign itself", result("press ⏎\nnow"), ["✓ press \\⏎ ⏎ now"]],
  ["a failed command", result("no such file", 2), ["✗ exit 2: no such file"]],
  ["a failed command that says nothing", result("", 2), ["✗ exit 2"]],
  ["an output that looks like the name of a call", result("‹b› c"), ["✓ ‹› ‹b› c"]],
  ["colours and bells", result("\u001b[31mred\u001b[0m\u0007\u0000 10%\r20%"), ["✓ red 10% ⏎ 20%"]],
  [
    "a step",
    { kind: "step_end", reason: "length", goesOn: false, tokens: { ...noTokens, input: 12345, cacheWrite: 7 }, costUsd: 1.5 },
    ["■ length · 12,345 in · 7 written to cache · 0 out · $1.50"],
  ],
  ["a step on the way", { kind: "step_end", reason: "tool-calls", goesOn: true, tokens: noTokens, costUsd: 0 }, []],
  ["an error", { kind: "error", text: "APIError 400: no\nreally" }, ["✖ APIError 400: no ⏎ really"]],
  [
    "an error with its stack",
    { kind: "error", text: "TypeError: no\n    at run (/app/a.js:1:2)\n    at async main (/app/b.js:3:4)\n    at native:7:39\nBun v1.2" },
    ["✖ TypeError: no ⏎ … 3 lines of a stack trace, in the pod's log ⏎ Bun v1.2"],
  ],
  ["a session", { kind: "init", sessionId: "ses_1", model: "a/b" }, ["◆ session ses_1 · model a/b"]],
  ["a status", { kind: "status", text: "[paperclip] waiting" }, ["[paperclip] waiting"]],
  ["a foreign line", { kind: "other", text: "npm warn" }, ["npm warn"]],
  ["a foreign line that looks like ours", { kind: "other", text: "● no" }, ["· ● no"]],
  ["a foreign line that looks like a status", { kind: "other", text: "[paperclip] cancelled" }, ["· [paperclip] cancelled"]],
])("%s", (_, entry, lines) => {
  expect(toLines(entry)).toEqual(lines);
});

test("of a long text the first and the last lines are shown, of a failed command more of the last ones", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `${index}`);
  const text = lines.join("\n");
  expect(toLines(result(text))).toEqual(["✓ 0 ⏎ 1 ⏎ 2 ⏎ 3 ⏎ … 34 more lines ⏎ 38 ⏎ 39"]);
  expect(toLines(result(text, 1))).toEqual(["✗ exit 1: 0 ⏎ 1 ⏎ 2 ⏎ 3 ⏎ … 30 more lines ⏎ 34 ⏎ 35 ⏎ 36 ⏎ 37 ⏎ 38 ⏎ 39"]);
  expect(toLines(result(lines.slice(0, 7).join("\n")))).toEqual(["✓ 0 ⏎ 1 ⏎ 2 ⏎ 3 ⏎ 4 ⏎ 5 ⏎ 6"]);
  expect(toLines(call("bash", text, {}))).toEqual(["▸ bash  0 ⏎ 1 ⏎ 2 ⏎ 3 ⏎ … 35 more lines ⏎ 39"]);
  expect(toLines(result("x".repeat(1500)))).toEqual([`✓ ${"x".repeat(200)}… 1,300 more characters`]);
});

test("whatever it is made of, a line fits into one chunk of the host's live view", () => {
  for (const long of [
    result(`${"\n".repeat(50_000)}.`),
    result(`${"🧵⏎".repeat(5000)}\n`.repeat(50)),
    call("write", "ü⏎\n".repeat(90_000), {}),
    call("write", "", { content: "ü⏎".repeat(90_000) }),
    { kind: "error", text: `${"⏎".repeat(5000)}\n`.repeat(50) } as const,
    { kind: "other", text: "⏎".repeat(90_000) } as const,
  ]) {
    expect(toLines(long)[0]!.length).toBeLessThan(8192);
  }
  expect(() => toLines(call("deep", "", JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`)))).not.toThrow();
});

test("the last step's line has what all of them used", () => {
  const step = (goesOn: boolean): Entry => ({
    kind: "step_end",
    reason: goesOn ? "tool-calls" : "stop",
    goesOn,
    tokens: { ...noTokens, input: 10, output: 1 },
    costUsd: 0.5,
  });
  const lines = new TranscriptLines();
  expect(lines.push([step(true), step(true), step(false)])).toEqual(["■ stop · 30 in · 3 out · $1.50"]);
  expect(lines.push([step(false)])).toEqual(["■ stop · 10 in · 1 out · $0.50"]);
});

test("a result is named where it could be taken for another call's, and only there", () => {
  const answer = (id: string, text: string): Entry => ({ kind: "tool_result", id, tool: "", text, isError: false, exitCode: null });
  const ls = call("bash", "ls", {}, "a");
  const pwd = call("bash", "pwd", {}, "b");
  expect(toLines(ls, pwd, answer("b", "/"), answer("a", "x"))).toEqual(["▸ bash  ls", "▸ bash  pwd", "✓ /", "✓ x"]);
  expect(toLines(ls, pwd, answer("a", "x"), answer("b", "/"))).toEqual(["▸ bash  ls", "▸ bash  pwd", "✓ ‹bash  ls› x", "✓ /"]);
  expect(toLines(ls, { ...ls, id: "b" }, answer("a", "x"))).toEqual(["▸ bash  ls", "▸ bash (2)  ls", "✓ ‹bash  ls› x"]);
  expect(toLines(ls, answer("other", "x"))).toEqual(["▸ bash  ls", "✓ ‹an earlier call› x"]);
  expect(toLines(answer("other", "x"))).toEqual(["✓ x"]);
  const long = toLines(call("bash", `echo ${"y".repeat(90)}`, {}, "a"), pwd, answer("a", "x"));
  expect(long.at(-1)).toBe(`✓ ‹bash  echo ${"y".repeat(49)}…› x`);
  // Some tools never report an end.
  const lines = new TranscriptLines();
  for (let index = 0; index < 1000; index++) lines.push([call("search", "", {}, `s${index}`)]);
  expect(lines.push([ls, answer("a", "x")])).toEqual(["▸ bash  ls", "✓ x"]);
});

test("stack traces among foreign lines are folded, whatever follows them; one line alone is none", () => {
  const lines = new TranscriptLines();
  const push = (...texts: string[]) => lines.push(texts.map((text) => ({ kind: "other", text })));
  expect(push("TypeError: no", "at a (/x.js:1:2)", "at b (/x.js:3:4)")).toEqual(["TypeError: no"]);
  expect(lines.push([{ kind: "assistant", text: "hm" }])).toEqual(["… 2 lines of a stack trace, in the pod's log", "● hm"]);
  expect(push("at noon (or later)", "lunch")).toEqual(["at noon (or later)", "lunch"]);
  expect(push("at file:///x.js:1:2", "... 3 more")).toEqual([]);
  expect(lines.end()).toEqual(["… 2 lines of a stack trace, in the pod's log"]);
  expect(lines.end()).toEqual([]);
});

test("a marked line that we did not write is shown as it is", () => {
  for (const line of ["▸", "▸ one blank", "✓", "■ stop · many in", "◆ what", "●glued"])
    expect(parseLine(line, "t")).toEqual([{ kind: "stdout", ts: "t", text: line }]);
  expect(parseLine("  ", "t")).toEqual([]);
});

test("our entries are entries of the host", () => {
  expectTypeOf<TranscriptEntry>().toExtend<host.TranscriptEntry>();
});
