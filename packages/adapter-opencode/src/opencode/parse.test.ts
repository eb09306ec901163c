import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cases } from "../../fixtures/cases.ts";
import { loadFixture } from "../../fixtures/load.ts";
import { createParser, type OpenCodeResult } from "./parse.ts";

function parse(lines: readonly string[]): OpenCodeResult {
  const parser = createParser();
  for (const line of lines) parser.push(line);
  return parser.result();
}

const parseFixture = (name: string) => parse(loadFixture(name).lines);
const text = (words: string, id: string) => JSON.stringify({ type: "text", sessionID: "ses_1", part: { id, text: words } });
const step = { input: 400, cacheRead: 800, cacheWrite: 0, output: 45, reasoning: 12 };

test("an answer: session, text, tokens of each sort, cost, reason", () => {
  const result = parseFixture("success");
  expect(result).toMatchObject({ sessionId: "ses_0001", lastText: "Hello from the script.", tokens: step });
  expect(result).toMatchObject({ steps: 1, finishReason: "stop", errors: [], events: 3 });
  // 400 × 3 $/M + 800 × 0.3 $/M + (45 + 12) × 15 $/M
  expect(result.costUsd).toBeCloseTo(0.002295, 9);
});

test("the model is that of the last event that names one", () => {
  const ofModel = (modelID: string, id: string) => JSON.stringify({ type: "text", sessionID: "ses_1", modelID, part: { id, text: "x" } });
  expect(parse([ofModel("a", "1"), ofModel("b", "2"), text("x", "3")]).model).toBe("b");
});

test("a tool call: tokens and cost of both steps are added", () => {
  const result = parseFixture("tool-call");
  expect(result).toMatchObject({ steps: 2, lastText: "All done: scripted answer." });
  expect(result.tokens).toEqual({ input: 800, cacheRead: 1600, cacheWrite: 0, output: 90, reasoning: 24 });
  expect(result.costUsd).toBeCloseTo(0.00459, 9);
});

test("a tool's error is no error of the run", () => {
  expect(parseFixture("tool-error")).toMatchObject({ errors: [], finishReason: "stop" });
  expect(parseFixture("tool-exit-code")).toMatchObject({ errors: [] });
});

test("a resumed session keeps its id and its memory", () => {
  expect(parseFixture("resumed")).toMatchObject({ sessionId: "ses_0001", lastText: "1. say: one\n2. remember" });
});

test("errors carry name, status and message", () => {
  const refused = { name: "APIError", status: 401, message: "Scripted refusal: invalid API key.", retryable: false };
  expect(parseFixture("unauthorized").errors).toMatchObject([refused]);
  expect(parseFixture("model-error").errors).toMatchObject([{ status: 400 }]);
  expect(parseFixture("overloaded").errors).toMatchObject([{ status: 503, retryable: true }]);
  expect(parseFixture("unknown-session")).toMatchObject({ sessionId: null, events: 0, errors: [] });
});

test("reasons other than stop are kept", () => {
  expect(parseFixture("output-limit").finishReason).toBe("length");
  expect(parseFixture("permission-rejected")).toMatchObject({ finishReason: "tool-calls" });
  expect(parseFixture("step-limit")).toMatchObject({ finishReason: "stop", steps: 3 });
});

test("what OpenCode writes to the model after a compaction is not the assistant's text", () => {
  expect(parseFixture("compaction").lastText).toBe("All done: scripted answer.");
  const { lines } = loadFixture("compaction");
  const words = lines.findIndex((line) => line.includes("Continue if you have next steps"));
  expect(parse(lines.slice(0, words + 1)).lastText).toBe("Scripted summary of the conversation.");
});

test("an overflow that a compaction answered is not an error that stands", () => {
  const { lines } = loadFixture("context-overflow");
  expect(parse(lines)).toMatchObject({ errors: [], recovered: [{ name: "ContextOverflowError" }], lastText: "All done: scripted answer." });
  expect(parse(lines.slice(0, 2))).toMatchObject({ errors: [{ name: "ContextOverflowError" }], recovered: [] });
  expect(parse([...lines, lines[0]!]).errors).toHaveLength(1);
});

test("a part printed twice counts once, a torn or foreign line does not count", () => {
  const { lines } = loadFixture("success");
  const result = parse([...lines, lines[2]!, '{"type":"text","par', "npm WARN", "", "null", "[1]", '{"no":"type"}']);
  expect(result).toMatchObject({ steps: 1, tokens: step, events: 4 });
});

test("a sub-agent's tokens and cost are the run's, its session and its end are not", () => {
  const result = parseFixture("sub-agent");
  expect(result).toMatchObject({ sessionId: "ses_0001", steps: 2, subAgentSteps: 1, finishReason: "stop", events: 6 });
  expect(result.tokens).toEqual({ input: 1200, cacheRead: 2400, cacheWrite: 0, output: 135, reasoning: 36 });
  expect(result.costUsd).toBeCloseTo(0.006885, 9);
});

const ofSubAgent = (id: string, reason = "sub-agent: stop") =>
  JSON.stringify({
    timestamp: 1,
    type: "step_finish",
    subAgent: "ses_2",
    part: { id, type: "step-finish", reason, tokens: { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 1 } }, cost: 0.5 },
  });

test("a sub-agent's steps add to tokens and cost, each once, and change nothing else", () => {
  const { lines } = loadFixture("tool-call");
  const own = parse(lines);
  const mixed = [
    ofSubAgent("a"),
    lines[0]!,
    ofSubAgent("b"),
    ...lines.slice(1, 3),
    ofSubAgent("a"),
    lines[2]!,
    ...lines.slice(3),
    ofSubAgent("b"),
  ];
  const used = { input: 820, cacheRead: 1606, cacheWrite: 2, output: 100, reasoning: 28 };
  expect(parse(mixed)).toEqual({
    ...own,
    events: own.events + 1,
    tokens: used,
    costUsd: expect.closeTo(own.costUsd + 1, 9),
    subAgentSteps: 2,
  });
});

test("sub-agents alone are no output that can be read, no end and no session", () => {
  const unknown = JSON.stringify({ type: "new-kind" });
  expect(parse([unknown, ofSubAgent("a", "stop")])).toMatchObject({
    sessionId: null,
    finishReason: null,
    steps: 0,
    costUsd: 0.5,
    events: 0,
  });
  expect(parse([unknown, ofSubAgent("a")]).unreadable).toContain("new-kind");
});

test("the steps of many sub-agents are remembered in bounded memory", () => {
  const many = Array.from({ length: 5000 }, (_, i) => ofSubAgent(`prt_${i}`));
  expect(parse([...many, many.at(-200)!])).toMatchObject({ subAgentSteps: 5000, costUsd: 2500 });
});

test.each([
  ["answered, and its steps were printed", {}, [ofSubAgent("a")], 0],
  ["answered without any", {}, [], 1],
  ["failed", { status: "error" }, [], 0],
  ["still at work", { metadata: { sessionId: "ses_2", background: true } }, [], 0],
])("a warning says once that sub-agents are not counted: one that %s", (_, state, before, warnings) => {
  const parser = createParser();
  const task = (id: string) =>
    JSON.stringify({
      type: "tool_use",
      part: { id, tool: "task", callID: id, state: { status: "completed", metadata: { sessionId: "ses_2" }, ...state } },
    });
  const shown = [...before, task("1"), task("2")].flatMap((line) => parser.push(line));
  expect(shown.filter(({ kind }) => kind === "status")).toHaveLength(warnings);
});

test("memory is bounded: the end of a long text is kept, with a note", () => {
  const parser = createParser();
  for (let i = 0; i < 300; i++) parser.push(text(`${i}:${"x".repeat(10_000)}`, `prt_${i}`));
  parser.push(text(`${"y".repeat(1_000_000)}END`, "prt_last"));
  for (let i = 0; i < 100; i++)
    parser.push(JSON.stringify({ type: "error", error: { name: "E", data: { message: `${i}${"z".repeat(9000)}` } } }));
  const result = parser.result();
  expect(result.lastText.length).toBeLessThan(66_000);
  expect(result.lastText).toMatch(/^\[… \d+ characters before this are not kept\]\ny+END$/);
  expect(JSON.stringify(result.errors).length).toBeLessThan(100_000);
});

test("the result can be asked for at any time and does not change afterwards", () => {
  const parser = createParser();
  const [first, ...rest] = loadFixture("tool-call").lines;
  parser.push(first!);
  const early = parser.result();
  for (const line of rest) parser.push(line);
  expect(early).toMatchObject({ sessionId: "ses_0001", steps: 0, finishReason: null });
});

test("junk never throws and never changes what real lines mean", () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom("text", "error", "step_finish", "tool_use", null, Number.NaN));
  const event = fc.record(
    {
      type: value,
      sessionID: value,
      part: fc.oneof(value, fc.record({ tokens: value, state: value, text: value, cost: value })),
      error: value,
    },
    { requiredKeys: [] },
  );
  const junk = fc.oneof(
    fc.string(),
    fc.json(),
    event.map((fields) => JSON.stringify(fields)),
    fc.constantFrom(...loadFixture("tool-call").lines).map((line) => line.slice(0, line.length / 2)),
  );
  fc.assert(
    fc.property(fc.array(junk, { maxLength: 30 }), (lines) => {
      const result = parse(lines);
      expect(Number.isFinite(result.costUsd)).toBe(true);
      expect(Object.values(result.tokens).every(Number.isFinite)).toBe(true);
    }),
  );
  fc.assert(
    fc.property(
      fc.array(
        fc.string().filter((words) => !words.trim().startsWith("{")),
        { maxLength: 20 },
      ),
      (words) => {
        const clean = parseFixture("tool-call");
        const mixed = loadFixture("tool-call").lines.flatMap((line, i) => [line, ...(words[i] === undefined ? [] : [words[i]])]);
        expect(parse(mixed)).toMatchObject(clean);
      },
    ),
  );
});

test("no recording names the machine it was made on", () => {
  const repository = fileURLToPath(new URL("../../../..", import.meta.url));
  for (const name of Object.keys(cases)) {
    const { lines, stderr } = loadFixture(name);
    for (const place of [`${tmpdir()}/`, repository, "127.0.0.1"]) expect([...lines, stderr].join("\n")).not.toContain(place);
  }
});
