import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { mark } from "./marks.ts";
import { parseLine, type TranscriptEntry } from "./parse-line.ts";
import { TranscriptLines, toLines } from "./to-lines.ts";

const traps = [
  "⏎",
  "\\⏎",
  " ⏎ ",
  "\\",
  "\n",
  "\r\n",
  "\n\n",
  "\t",
  "  ",
  "  {",
  '  {"a":1}',
  "  #x",
  "exit 3 #y",
  " · ",
  "🧵",
  "e\u0301",
  "\u2028",
];
const printable = fc
  .array(fc.oneof(fc.string({ unit: "grapheme", maxLength: 12 }), fc.constantFrom(...traps, "[paperclip]", ...Object.values(mark))), {
    maxLength: 30,
  })
  .map((pieces) => pieces.join(""));
const anything = fc
  .array(
    fc.oneof(
      printable,
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom("\u0000", "\u001b[31mred\u001b[0m", "\ud800", "\udc00"),
    ),
  )
  .map((pieces) => pieces.join(""));

/** What the host does with stdout: join, cut at newlines, trim, drop blank lines, parse each, join deltas of one kind. */
function asHost(lines: readonly string[]): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  for (const line of lines
    .map((each) => `${each}\n`)
    .join("")
    .split(/\r?\n/)) {
    if (line.trim() === "") continue;
    for (const entry of parseLine(line.trim(), "t")) {
      const last = entries.at(-1);
      if (last && "delta" in last && "delta" in entry && last.kind === entry.kind) last.text += entry.text;
      else entries.push(entry);
    }
  }
  return entries;
}

const newlines = (text: string) => text.replace(/\r\n?|[\u2028\u2029]/g, "\n");
/** What is lost of a text: white space at the ends of its lines and blank lines around it. */
const kept = (text: string) =>
  newlines(text)
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\n+|\n+$/g, "");

test.each(["assistant", "thinking"] as const)("any %s text comes back as one entry", (kind) => {
  fc.assert(
    fc.property(printable, (text) => {
      const expected = kept(text) === "" ? [] : [{ kind, ts: "t", text: `${kept(text)}\n`, delta: true }];
      expect(asHost(toLines({ kind, text }))).toEqual(expected);
    }),
  );
});

test("a very long line is not cut", () => {
  const text = `${"wörter ".repeat(100_000)}end`;
  expect(asHost(toLines({ kind: "assistant", text }))).toMatchObject([{ text: `${text}\n` }]);
});

test("any result of a tool comes back in one entry, whole as long as it is short", () => {
  fc.assert(
    fc.property(printable, fc.boolean(), fc.option(fc.integer({ min: 1, max: 255 })), (text, isError, exitCode) => {
      const entries = asHost(toLines({ kind: "tool_result", id: "call_1", tool: "bash", text, isError, exitCode }));
      const parts = [newlines(text).trimEnd(), exitCode === null ? "" : `exit code ${exitCode}`].filter((part) => part !== "");
      const content = parts.join("\n") || "(no output)";
      expect(entries).toEqual([{ kind: "tool_result", ts: "t", toolUseId: "call_1", content, isError: isError || exitCode !== null }]);
    }),
  );
});

test("the input of a tool comes back, whichever field its title is", () => {
  const fields = fc.dictionary(
    fc.string({ maxLength: 8 }),
    fc.oneof(fc.string({ maxLength: 20 }), fc.integer(), fc.boolean(), fc.constant(null)),
    { maxKeys: 5 },
  );
  fc.assert(
    fc.property(fc.constantFrom("command", "filePath", "url"), printable, fields, (field, title, others) => {
      const rest = Object.fromEntries(Object.entries(others).filter(([key, value]) => key !== field && value !== title));
      const [entry, ...more] = asHost(
        toLines({ kind: "tool_call", id: "call_7", tool: "some_tool", title, input: { [field]: title, ...rest } }),
      );
      expect(more).toEqual([]);
      expect(entry).toMatchObject({ kind: "tool_call", name: "some_tool", toolUseId: "call_7" });
      const shown = newlines(title).trim();
      const { [field]: value, ...shownRest } = (entry as { input: Record<string, unknown> }).input;
      expect(value ?? "").toBe(shown);
      expect(shownRest).toEqual(rest);
    }),
  );
});

test("steps, errors, foreign lines, the beginning of a session", () => {
  const count = fc.nat({ max: 10_000_000 });
  const tokens = fc.record({ input: count, cacheRead: count, cacheWrite: count, output: count, reasoning: count });
  fc.assert(
    fc.property(tokens, fc.integer({ min: 0, max: 100_000_000 }), fc.boolean(), (step, micros, goesOn) => {
      const entry: Entry = { kind: "step_end", reason: "stop", goesOn, tokens: step, costUsd: micros / 1e6 };
      const result = {
        kind: "result",
        subtype: "stop",
        inputTokens: step.input + step.cacheWrite,
        cachedTokens: step.cacheRead,
        outputTokens: step.output + step.reasoning,
        costUsd: micros / 1e6,
      };
      expect(asHost(toLines(entry))).toMatchObject(goesOn ? [] : [result]);
    }),
  );
  fc.assert(
    fc.property(printable, (text) => {
      const shown = newlines(text).trimEnd();
      expect(asHost(toLines({ kind: "error", text }))).toMatchObject([{ kind: "result", text: shown, isError: true, errors: [shown] }]);
      const line = newlines(text).replaceAll("\n", " ").trim();
      expect(asHost(toLines({ kind: "other", text: line }))).toEqual(line === "" ? [] : [{ kind: "stdout", ts: "t", text: line }]);
    }),
  );
  expect(asHost(toLines({ kind: "init", sessionId: "ses_1", model: "a/b" }))).toEqual([
    { kind: "init", ts: "t", sessionId: "ses_1", model: "a/b" },
  ]);
});

test("whatever the text, lines are lines, fit for a database, and mean the same kind of entry", () => {
  const kinds = { assistant: "assistant", thinking: "thinking", error: "result", other: "stdout", status: "system" } as const;
  fc.assert(
    fc.property(anything, fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])), fc.boolean(), (text, kind, isError) => {
      const call: Entry = { kind: "tool_call", id: text, tool: text, title: text, input: { [text]: text, more: [text] } };
      const result: Entry = { kind: "tool_result", id: text, tool: text, text, isError, exitCode: null };
      for (const entry of [{ kind, text }, call, result] satisfies Entry[]) {
        const lines = toLines(entry);
        for (const line of lines) expect(line).not.toMatch(/(?!\t)\p{Cc}|\p{Cs}/u);
        const expected = entry.kind in kinds ? kinds[entry.kind as keyof typeof kinds] : entry.kind;
        for (const line of lines) expect(parseLine(line, "t")).toMatchObject([{ kind: expected }]);
      }
      const [called, answered] = asHost([...toLines(call), ...toLines(result)]) as { toolUseId: string }[];
      expect(answered?.toolUseId).toBe(called?.toolUseId);
    }),
  );
});

test("two answers in a row stay two paragraphs", () => {
  const lines = new TranscriptLines();
  const answer = (text: string) => lines.push([{ kind: "assistant", text }]);
  expect([...answer("one"), ...answer(" "), ...answer("two")]).toEqual(["● one", "│", "● two"]);
  const mixed = (text: string) =>
    lines.push([
      { kind: "thinking", text },
      { kind: "assistant", text },
    ]);
  expect([...mixed("a"), ...mixed("b")]).toEqual(["◌ a", "● a", "◌ b", "● b"]);
});

test("parsing never throws", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anything,
        fc.tuple(fc.constantFrom(...Object.values(mark)), anything).map(([first, rest]) => `${first} ${rest}`),
      ),
      (line) => {
        expect(parseLine(line, "t").length).toBeLessThanOrEqual(1);
      },
    ),
  );
});
