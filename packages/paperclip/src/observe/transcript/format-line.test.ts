import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { formatLine } from "./format-line.ts";
import { TranscriptLines } from "./to-lines.ts";

const show = (entry: Entry, color = false): string =>
  new TranscriptLines()
    .push([entry])
    .map((line) => formatLine(line, { color }))
    .join("\n");
const result = (text: string): Entry => ({ kind: "tool_result", id: "c1", tool: "bash", text, isError: false, exitCode: 0 });

test("lines are shown as the log has them, several of one text below each other", () => {
  expect(show({ kind: "assistant", text: "Hello.\n\nBye." })).toBe("● Hello.\n│\n│ Bye.");
  expect(show(result("one\ntwo"))).toBe("✓ one\n    two");
  expect(show({ kind: "error", text: "bad\nworse" })).toBe("✖ bad\n    worse");
});

test("what the log leaves out is not there, and nothing else is left out", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  expect(show(result(lines.join("\n")))).toBe(
    ["✓ line 0", "line 1", "line 2", "line 3", "… 34 more lines", "line 38", "line 39"].join("\n    "),
  );
});

test("the mark has its colour, and colour changes nothing else", () => {
  expect(show({ kind: "assistant", text: "Hi" }, true)).toBe("\u001b[32m●\u001b[39m Hi");
  expect(formatLine("[paperclip] waiting", { color: true })).toBe("\u001b[2m[paperclip] waiting\u001b[22m");
  expect(stripVTControlCharacters(show(result("a\nb"), true))).toBe(show(result("a\nb")));
  expect(formatLine("│", { color: false })).toBe("│");
  expect(formatLine("", { color: false })).toBe("");
});

test("text of others does not steer the terminal", () => {
  for (const text of ["a\u001b[2Jb", "\u001b]0;title\u0007x", "a\rb", "a\u009b31mb"]) {
    for (const shown of [show(result(text)), show({ kind: "assistant", text }), formatLine(text, { color: false })])
      expect(shown).not.toMatch(/(?!\n)\p{Cc}/u);
  }
});
