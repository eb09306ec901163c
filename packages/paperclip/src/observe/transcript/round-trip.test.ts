import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { joinLines } from "../clean-text.ts";
import { mark } from "./marks.ts";
import { parseLine, type TranscriptEntry } from "./parse-line.ts";
import { TranscriptLines } from "./to-lines.ts";

const toLines = (...entries: Entry[]): string[] => new TranscriptLines().push(entries);

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
  "‹",
  "›",
  "‹x› ",
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

/** What is shown of a text that is short: its lines that are not blank. */
const shown = (text: string) =>
  newlines(text)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
const isShort = (text: string) => shown(text).length <= 5 && shown(text).every((line) => line.length <= 200);

test("any short result of a tool comes back in one entry", () => {
  fc.assert(
    fc.property(printable.filter(isShort), fc.boolean(), fc.option(fc.integer({ min: 1, max: 255 })), (text, isError, exitCode) => {
      const entries = asHost(toLines({ kind: "tool_result", id: "call_1", tool: "bash", text, isError, exitCode }));
      const parts = [exitCode === null ? "" : `exit ${exitCode}`, shown(text).join("\n")].filter((part) => part !== "");
      const content = parts.join(": ") || "(no output)";
      expect(entries).toEqual([{ kind: "tool_result", ts: "t", toolUseId: "", content, isError: isError || exitCode !== null }]);
    }),
  );
});

test("what a short call is about comes back", () => {
  fc.assert(
    fc.property(fc.constantFrom("bash", "some_tool"), printable.filter(isShort), (tool, title) => {
      const [entry, ...more] = asHost(toLines({ kind: "tool_call", id: "call_7", tool, title, input: {} }));
      expect(more).toEqual([]);
      expect(entry).toMatchObject({ kind: "tool_call", name: tool });
      const text = shown(newlines(title).trim()).join("\n");
      const { input } = entry as { input: Record<string, unknown> };
      // What is no command and looks like arguments is read as arguments.
      if (tool !== "bash" && text.startsWith("{")) return;
      expect(input).toEqual(text === "" ? {} : tool === "bash" ? { command: text } : { title: text });
    }),
  );
  const todo = { kind: "tool_call", id: "1", tool: "todo", title: "", input: { todos: ["⏎", 2] } } as const;
  expect(asHost(toLines(todo))).toMatchObject([{ name: "todo", input: todo.input }]);
});

test("each result goes to its call, as the host ties them: by id, else to the last call that is open", () => {
  const title = fc.oneof(fc.constantFrom("ls", "pwd"), printable);
  const calls = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), title), { maxLength: 6, selector: ([id]) => id });
  fc.assert(
    fc.property(calls, fc.array(fc.nat({ max: 11 }), { maxLength: 20 }), (all, order) => {
      const transcript = new TranscriptLines();
      const waiting = [...all];
      const running: string[] = [];
      const tied: { id: string; call: string; status: string; result?: string }[] = [];
      for (const turn of order) {
        const [next] = turn % 2 === 0 ? waiting.splice(0, 1) : [];
        const [ended] = turn % 2 === 0 || running.length === 0 ? [] : running.splice(turn % running.length, 1);
        const entries: Entry[] = [];
        if (next) entries.push({ kind: "tool_call", id: next[0], tool: "bash", title: next[1], input: {} });
        if (next) running.push(next[0]);
        if (ended !== undefined)
          entries.push({
            kind: "tool_result",
            id: ended,
            tool: "",
            text: `of ${[...ended].map((c) => c.charCodeAt(0)).join()}`,
            isError: false,
            exitCode: null,
          });
        for (const entry of asHost(transcript.push(entries))) {
          if (entry.kind === "tool_call") tied.push({ id: entry.toolUseId, call: next?.[0] ?? "", status: "running" });
          if (entry.kind !== "tool_result") continue;
          const call =
            tied.findLast(({ id, status }) => id === entry.toolUseId && status === "running") ??
            tied.findLast(({ status }) => status === "running");
          Object.assign(call ?? {}, { status: "ended", result: entry.content });
        }
      }
      for (const { call, status, result } of tied)
        if (status === "ended") expect(result).toBe(`of ${[...call].map((c) => c.charCodeAt(0)).join()}`);
      expect(tied.filter(({ status }) => status === "running").map(({ call }) => call)).toEqual(running);
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
