import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { lineFormatter } from "./format-line.ts";

const entries = new Map<string, readonly Entry[]>();
const { formatLine } = lineFormatter((line) => entries.get(line));
const show = (entry: Entry, color = false): string => {
  entries.set("event", [entry]);
  return formatLine("event", { color });
};
const result = (text: string): Entry => ({ kind: "tool_result", id: "c1", tool: "bash", text, isError: false, exitCode: 0 });

test("lines are shown as the log has them, several of one text below each other", () => {
  expect(show({ kind: "assistant", text: "Hello.\n\nBye." })).toBe("● Hello.\n│\n│ Bye.");
  expect(show(result("one\ntwo"))).toBe("✓ #c1 one\n    two");
  expect(show({ kind: "error", text: "bad\nworse" })).toBe("✖ bad\n    worse");
});

test("of a long output only the first lines are shown", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  expect(show(result(lines.join("\n"))).split("\n")).toEqual([
    "✓ #c1 line 0",
    ...lines.slice(1, 6).map((line) => `    ${line}`),
    "    … 34 more lines",
  ]);
});

test("the mark has its colour, and colour changes nothing else", () => {
  expect(show({ kind: "assistant", text: "Hi" }, true)).toBe("\u001b[32m●\u001b[39m Hi");
  expect(formatLine("[paperclip] waiting", { color: true })).toBe("\u001b[2m[paperclip] waiting\u001b[22m");
  expect(stripVTControlCharacters(show(result("a\nb"), true))).toBe(show(result("a\nb")));
});

test("text of others does not steer the terminal", () => {
  for (const text of ["a\u001b[2Jb", "\u001b]0;title\u0007x", "a\rb", "a\u009b31mb"]) {
    for (const shown of [show(result(text)), show({ kind: "assistant", text }), formatLine(text, { color: false })])
      expect(shown).not.toMatch(/(?!\n)\p{Cc}/u);
  }
});
