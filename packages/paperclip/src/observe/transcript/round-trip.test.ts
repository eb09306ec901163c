import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { joinLines } from "../clean-text.ts";
import { mark } from "./marks.ts";
import { parseLine } from "./parse-line.ts";
import { anything, asHost, isShort, newlines, printable, shown, toLines } from "./testing/as-host.ts";
import { TranscriptLines } from "./to-lines.ts";

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
    fc.property(printable.filter(isShort), (text) => {
      const said = shown(text).join("\n");
      expect(asHost(toLines({ kind: "error", text }))).toMatchObject([{ kind: "result", text: said, isError: true, errors: [said] }]);
      const line = joinLines(newlines(text));
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
