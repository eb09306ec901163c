import type * as host from "@paperclipai/adapter-utils";
import { expect, expectTypeOf, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { parseLine, type TranscriptEntry } from "./parse-line.ts";
import { toLines } from "./to-lines.ts";

const call = (tool: string, title: string, input: unknown, id = "call_1"): Entry => ({ kind: "tool_call", id, tool, title, input });
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
  ["a command", call("bash", "ls -l", { command: "ls -l" }), ["▸ bash  ls -l  #call_1"]],
  ["a command of several lines", call("bash", "cat <<E\na\nE", { command: "cat <<E\na\nE" }), ["▸ bash  cat <<E ⏎ a ⏎ E  #call_1"]],
  ["a file", call("read", "a b.txt", { filePath: "a b.txt", limit: 5 }), ['▸ read filePath  a b.txt  {"limit":5}  #call_1']],
  ["a title of the CLI's own", call("todo", "2 todos", { todos: [1, 2] }), ['▸ todo title  2 todos  {"todos":[1,2]}  #call_1']],
  ["no title", call("todo", "", { todos: [] }), ['▸ todo  {"todos":[]}  #call_1']],
  [
    "a title that looks like fields",
    call("bash", 'echo  {"a":1}', { command: 'echo  {"a":1}' }),
    ['▸ bash  {"command":"echo  {\\"a\\":1}"}  #call_1'],
  ],
  ["a long id", call("bash", "ls", { command: "ls" }, "toolu_01A09q90qw90lq917835lq9"), ["▸ bash  ls  #17835lq9"]],
  ["an output", result("one\ntwo\n"), ["✓ #call_1 one ⏎ two"]],
  ["no output", result(""), ["✓ #call_1"]],
  ["the sign itself", result("press ⏎\nnow"), ["✓ #call_1 press \\⏎ ⏎ now"]],
  ["a failed command", result("no such file", 2), ["✗ exit 2 #call_1 no such file"]],
  ["colours and bells", result("\u001b[31mred\u001b[0m\u0007\u0000 10%\r20%"), ["✓ #call_1 red 10% ⏎ 20%"]],
  [
    "a step",
    { kind: "step_end", reason: "length", goesOn: false, tokens: { ...noTokens, input: 12345, cacheWrite: 7 }, costUsd: 1.5 },
    ["■ length · 12,345 in · 7 written to cache · 0 out · $1.50"],
  ],
  [
    "a step on the way",
    { kind: "step_end", reason: "tool-calls", goesOn: true, tokens: noTokens, costUsd: 0 },
    ["□ tool-calls · 0 in · 0 out"],
  ],
  ["an error", { kind: "error", text: "APIError 400: no\nreally" }, ["✖ APIError 400: no ⏎ really"]],
  ["a session", { kind: "init", sessionId: "ses_1", model: "a/b" }, ["◆ session ses_1 · model a/b"]],
  ["a status", { kind: "status", text: "[paperclip] waiting" }, ["[paperclip] waiting"]],
  ["a foreign line", { kind: "other", text: "npm warn" }, ["npm warn"]],
  ["a foreign line that looks like ours", { kind: "other", text: "● no" }, ["· ● no"]],
  ["a foreign line that looks like a status", { kind: "other", text: "[paperclip] cancelled" }, ["· [paperclip] cancelled"]],
])("%s", (_, entry, lines) => {
  expect(toLines(entry)).toEqual(lines);
});

test("long results keep beginning and end, and a line fits into one chunk of the host's live view", () => {
  const text = ["first", ...Array(2000).fill("x".repeat(99)), "the error at last"].join("\n");
  const [line = ""] = toLines(result(text));
  expect(line).toMatch(/^✓ #call_1 first ⏎ x.* ⏎ \[… 19\d,\d{3} bytes left out …\] ⏎ .*the error at last$/);
  for (const long of [
    result(`${"\n".repeat(50_000)}.`),
    result("🧵⏎".repeat(50_000)),
    call("write", "a".repeat(90_000), { command: "a".repeat(90_000), content: "ü".repeat(90_000) }),
  ]) {
    expect(Buffer.byteLength(toLines(long)[0]!)).toBeLessThan(8 * 1024);
  }
});

test("long input is shortened and stays an input", () => {
  const input = { filePath: "a.ts", content: "line\n".repeat(1000), list: Array.from({ length: 50 }, (_, i) => i), deep: [[[[[["x"]]]]]] };
  const [line = ""] = toLines(call("write", "a.ts", input));
  expect(line.length).toBeLessThan(1000);
  expect(parseLine(line, "t")).toMatchObject([
    {
      input: {
        filePath: "a.ts",
        content: expect.stringMatching(/^line\nline\n[\s\S]*… \(4700 more characters\)$/),
        list: expect.arrayContaining(["… 40 more"]),
      },
    },
  ]);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key${i}`, "value ".repeat(20)]));
  expect(Buffer.byteLength(toLines(call("many", "", many))[0]!)).toBeLessThan(3000);
  expect(() => toLines(call("deep", "", JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`)))).not.toThrow();
});

test("a marked line that we did not write is shown as it is", () => {
  for (const line of ["▸", "▸ no id", "✓ no id", "■ stop · many in", "◆ what", "●glued"])
    expect(parseLine(line, "t")).toEqual([{ kind: "stdout", ts: "t", text: line }]);
  expect(parseLine("  ", "t")).toEqual([]);
});

test("our entries are entries of the host", () => {
  expectTypeOf<TranscriptEntry>().toExtend<host.TranscriptEntry>();
});
