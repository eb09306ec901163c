import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cases } from "../../fixtures/cases.ts";
import { loadFixture } from "../../fixtures/load.ts";
import { claude } from "../agent-cli.ts";
import { createParser } from "./parse.ts";

function parse(lines: readonly string[]) {
  const parser = createParser();
  for (const line of lines) parser.push(line);
  return parser.run();
}

const parseFixture = (name: string) => parse(loadFixture(name).lines);
const turn = { input: 400, cacheRead: 800, cacheWrite: 60, output: 57, reasoning: 0 };

test("an answer: session, model, text, tokens of each sort, cost", () => {
  expect(parseFixture("success")).toMatchObject({
    sessionId: "00000000-0000-4000-8000-000000000001",
    model: "claude-sonnet-5",
    lastText: "Hello from the script.",
    tokens: turn,
    costUsd: 0.00168,
    fault: null,
    events: 3,
    result: { succeeded: true, subtype: "success", stopReason: "end_turn", kept: { num_turns: 1 } },
  });
});

test("a resumed session: only what this run has used, although the CLI counts on", () => {
  const run = parseFixture("resumed");
  expect(loadFixture("resumed").lines.at(-1)).toContain('"total_cost_usd":0.00336');
  expect(run).toMatchObject({ tokens: turn, costUsd: 0.00168, lastText: "1. say: one\n2. remember" });
});

test("several results of one run are added", () => {
  const run = parseFixture("background");
  expect(run.tokens.output).toBe(3 * 57);
  expect(run.costUsd).toBeCloseTo(3 * 0.00168, 9);
});

test("an older CLI, whose totals are those of its process", () => {
  const lines = loadFixture("background").lines.map((line) => line.replaceAll("model_usage_since_last_result", "other"));
  expect(parse(lines)).toMatchObject({ tokens: { output: 3 * 57 }, costUsd: expect.closeTo(3 * 0.00168, 9) });
});

test("before its result, what the messages have used; each message once", () => {
  const lines = loadFixture("tool-call").lines.slice(0, -1);
  const repeated = [...lines, lines[1]!, lines[3]!];
  expect(parse(repeated)).toMatchObject({ tokens: { output: 2 * 57, cacheRead: 1600 }, costUsd: null, result: null });
});

test("a turn that begins after a result takes its word back", () => {
  const { lines } = loadFixture("background");
  const reopened = lines.findLastIndex((line) => line.includes('"subtype":"init"'));
  expect(parse(lines.slice(0, reopened)).result?.succeeded).toBe(true);
  expect(parse(lines.slice(0, reopened + 1)).result).toBeNull();
});

test("a trouble that a retry got over is forgotten", () => {
  const { lines } = loadFixture("retrying");
  expect(parse(lines).fault).toMatchObject({ error: "overloaded", status: 529 });
  expect(parse([...lines, loadFixture("success").lines[1]!]).fault).toBeNull();
});

// The runner's end record would show that bytes are missing; the parser must not need it.
test("a stream cut at any byte is never a success", () => {
  const readAll = (text: string) => {
    const parser = claude.createParser();
    for (const line of text.split("\n")) parser.push(line);
    return { succeeded: parser.report().succeeded === true, fault: parser.fault("") };
  };
  for (const name of ["success", "tool-call", "resumed", "thinking"]) {
    const text = loadFixture(name).lines.join("\n");
    expect(readAll(text)).toEqual({ succeeded: true, fault: null });
    const events = text.indexOf("\n");
    for (let length = 0; length < text.length; length++) {
      const { succeeded, fault } = readAll(text.slice(0, length));
      if (succeeded || (length > events && fault === null)) expect({ name, length, succeeded, fault }).toBeNull();
    }
  }
}, 60_000);

test("the result keeps the session's id, the usage and the usage by model as the CLI wrote them", () => {
  const { kept } = parseFixture("success").result!;
  expect(kept).toMatchObject({
    session_id: "00000000-0000-4000-8000-000000000001",
    usage: { input_tokens: 400, output_tokens: 57, server_tool_use: { web_search_requests: 0 } },
    modelUsage: { "claude-sonnet-5": { inputTokens: 400, outputTokens: 57, costUSD: 0.00168 } },
  });
});

test("ledgers of any size and shape cost the result a few KiB at most", () => {
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, { text: "x".repeat(150), n: at }]));
  const deep = JSON.parse(`${'{"a":'.repeat(500)}1${"}".repeat(500)}`) as object;
  const long = Object.fromEntries(
    Array.from({ length: 16 }, (_, at) => [`m${at}`, Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, "y".repeat(200)]))]),
  );
  const named = { ["z".repeat(100_000)]: 1, fine: 2 };
  const ofResult = (usage: unknown) =>
    parse([JSON.stringify({ type: "result", subtype: "success", session_id: "s".repeat(100_000), num_turns: 1, usage, modelUsage: usage })])
      .result!.kept;
  for (const usage of [wide, deep, long, named, [], "x", null, 7]) expect(JSON.stringify(ofResult(usage)).length).toBeLessThan(20_000);
  expect(ofResult(named)).toMatchObject({ usage: { fine: 2 }, modelUsage: { fine: 2 } });
  expect(ofResult(long)).not.toHaveProperty("usage");
});

test("the model is that of the last answer; no model wrote a synthetic one", () => {
  const answer = (model: string, more: object = {}) =>
    JSON.stringify({ type: "assistant", message: { id: model, model, content: [], usage: {} }, ...more });
  const init = JSON.stringify({ type: "system", subtype: "init", session_id: "s", model: "claude-opus-5" });
  const lines = [init, answer("claude-opus-5"), answer("claude-sonnet-5"), answer("claude-haiku-4-5", { parent_tool_use_id: "t" })];
  expect(parse([...lines, answer("<synthetic>")]).model).toBe("claude-sonnet-5");
});

test("memory is bounded: the end of a long text is kept", () => {
  const parser = createParser();
  const message = (id: number, text: string) =>
    JSON.stringify({ type: "assistant", message: { id: `msg_${id}`, content: [{ type: "text", text }], usage: { output_tokens: 1 } } });
  for (let id = 0; id < 300; id++) parser.push(message(id, "x".repeat(10_000)));
  parser.push(message(300, `${"y".repeat(1_000_000)}END`));
  expect(parser.run().lastText.length).toBeLessThan(66_000);
  expect(parser.run().lastText).toMatch(/y+END$/);
  expect(parser.run().tokens.output).toBe(301);
});

test("junk never throws", () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom("assistant", "result", "system", "init", "user", null));
  const event = fc.record(
    {
      type: value,
      subtype: value,
      message: fc.oneof(value, fc.record({ content: value, usage: value })),
      modelUsage: value,
      errors: value,
    },
    { requiredKeys: [] },
  );
  const junk = fc.oneof(
    fc.string(),
    fc.json(),
    event.map((fields) => JSON.stringify(fields)),
  );
  fc.assert(
    fc.property(fc.array(junk, { maxLength: 30 }), (lines) => {
      const run = parse(lines);
      expect(Object.values(run.tokens).every(Number.isFinite)).toBe(true);
    }),
  );
});

test("no recording names the machine it was made on", () => {
  const repository = fileURLToPath(new URL("../../../..", import.meta.url));
  for (const name of Object.keys(cases)) {
    const { lines, stderr } = loadFixture(name);
    for (const place of [`${tmpdir()}/`, repository, "127.0.0.1"]) expect([...lines, stderr].join("\n")).not.toContain(place);
  }
});
