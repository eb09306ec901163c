import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { formatTranscriptLine } from "./terminal.ts";
import { toLines } from "./to-lines.ts";
import { columns } from "./wrap.ts";

const show = (entry: Entry, width = 80, color = false) => toLines(entry).map((line) => formatTranscriptLine(line, { color, width }));

test("nothing is wider than the terminal, colour changes nothing but the colour", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 400 });
  const kinds = fc.constantFrom("assistant", "thinking", "error", "other", "tool_call", "tool_result", "init");
  fc.assert(
    fc.property(kinds, text, fc.integer({ min: 24, max: 120 }), (kind, words, width) => {
      const entry = {
        kind,
        text: words,
        id: words,
        tool: words,
        title: words,
        input: {},
        isError: true,
        exitCode: 3,
        sessionId: words,
        model: words,
      } as Entry;
      for (const shown of show(entry, width)) for (const row of shown!.split("\n")) expect(columns(row)).toBeLessThanOrEqual(width);
      expect(show(entry, width, true).map((shown) => stripVTControlCharacters(shown!))).toEqual(show(entry, width));
    }),
  );
});

test("nothing of a text is lost, lists keep their indent, blank lines stay", () => {
  const words = "one two three ".repeat(40).trim();
  expect(
    show({ kind: "assistant", text: words }, 40)[0]!
      .slice(2)
      .replace(/\n {2}/g, " "),
  ).toBe(words);
  expect(show({ kind: "assistant", text: "Two:\n\n- aaaa bbbb cccc dddd eeee ffff" }, 24)).toEqual([
    "● Two:",
    "",
    "  - aaaa bbbb cccc dddd\n    eeee ffff",
  ]);
});

test("long results are shortened", () => {
  const text = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n");
  const rows = show({ kind: "tool_result", id: "1", tool: "bash", text, isError: false, exitCode: null })[0]!.split("\n");
  expect(rows).toHaveLength(6);
  expect(rows.at(-1)).toBe("    … 15 more lines");
});

test("a call without a title shows its input; steps on the way are not shown", () => {
  expect(show({ kind: "tool_call", id: "1", tool: "todo", title: "", input: { todos: 3 } })).toEqual(['▸ todo  {"todos":3}']);
  const tokens = { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 };
  expect(show({ kind: "step_end", reason: "tool-calls", goesOn: true, tokens, costUsd: 0 })).toEqual([null]);
  expect(show({ kind: "step_end", reason: "stop", goesOn: false, tokens, costUsd: 0 })).toEqual(["  stop · 1 in · 2 out"]);
});

test("text of others cannot steer the terminal", () => {
  const evil = "a\u001b[2J\u001b]0;title\u0007b\u0000\u009bc";
  for (const line of [
    `● ${evil}`,
    `▸ ${evil}  ${evil}  #1`,
    `✗ #1 ${evil}`,
    `■ ${evil} · 1 in`,
    `✖ ${evil}`,
    `◆ model ${evil}`,
    evil,
    `[paperclip] ${evil}`,
  ])
    expect(formatTranscriptLine(line, { color: false, width: 80 })).not.toMatch(/(?!\n)\p{Cc}/u);
  expect(show({ kind: "other", text: "● not ours" })).toEqual(["· ● not ours"]);
  expect(formatTranscriptLine("[paperclip] waiting", { color: true, width: 80 })).toBe("\u001b[2m[paperclip] waiting\u001b[22m");
});
