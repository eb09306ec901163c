import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cases } from "../fixtures/cases.ts";
import { loadFixture } from "../fixtures/load.ts";
import { formatLine } from "./cli.ts";
import { columns } from "./opencode/wrap.ts";

function show(name: string, color = false): string {
  const shown = loadFixture(name).lines.map((line) => formatLine(line, { color, width: 100 }));
  return shown.filter((text) => text !== "").join("\n");
}

test("a run reads like a conversation", () => {
  expect(show("tool-call")).toBe(
    [
      "▸ bash  echo hello-from-tool",
      "    hello-from-tool",
      "● All done: scripted answer.",
      "  stop · 400 in · 800 cached · 45 out · 12 reasoning · $0.0023",
    ].join("\n"),
  );
  expect(show("tool-exit-code")).toContain("  ✗ about-to-fail\n    exit code 3");
  expect(show("unauthorized")).toBe("✗ APIError 401: Scripted refusal: invalid API key.");
});

test("colour changes nothing but the colour", () => {
  for (const name of Object.keys(cases)) {
    expect(stripVTControlCharacters(show(name, true))).toBe(show(name));
    expect(stripVTControlCharacters(show(name))).toBe(show(name));
  }
  expect(show("tool-call", true)).toContain("\u001b[");
});

test("nothing is wider than the terminal, and nothing of a text is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 24, max: 120 }), (text, width) => {
      const line = JSON.stringify({ type: "text", part: { text } });
      const shown = formatLine(line, { color: false, width });
      for (const row of shown.split("\n")) expect(columns(row)).toBeLessThanOrEqual(width);
    }),
  );
  const words = "one two three ".repeat(40).trim();
  const shown = formatLine(JSON.stringify({ type: "text", part: { text: words } }), { color: false, width: 40 });
  expect(shown.slice(2).replace(/\n {2}/g, " ")).toBe(words);
});

test("long results are shortened, lists keep their indent", () => {
  const output = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n");
  const line = JSON.stringify({
    type: "tool_use",
    part: { tool: "bash", state: { status: "completed", input: { command: "a\nb" }, output } },
  });
  expect(formatLine(line, { color: false, width: 80 }).split("\n")).toHaveLength(7);
  expect(formatLine(line, { color: false, width: 80 })).toMatch(/^▸ bash {2}a …\n[\s\S]*… 15 more lines$/);
  const list = JSON.stringify({ type: "text", part: { text: "- aaaa bbbb cccc dddd eeee ffff" } });
  expect(formatLine(list, { color: false, width: 24 })).toBe("● - aaaa bbbb cccc dddd\n    eeee ffff");
});

test("text of others cannot steer the terminal", () => {
  const line = JSON.stringify({ type: "text", part: { text: "a\u001b[2J\u001b]0;title\u0007b\u0000\u009bc" } });
  expect(formatLine(line, { color: false, width: 80 })).not.toMatch(/(?!\n)\p{Cc}/u);
  expect(formatLine("[paperclip] waiting", { color: true, width: 80 })).toBe("\u001b[2m[paperclip] waiting\u001b[22m");
});
