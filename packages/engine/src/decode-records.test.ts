import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRecord, parseTermination } from "./decode-records.ts";

const at = "2026-01-01T00:00:00.000Z";
/** The fields that the first release wrote. */
const first = {
  type: "end",
  at,
  exitCode: 3,
  signal: null,
  cause: "exit",
  bytes: 10,
  written: 10,
  lines: 1,
  oomKills: null,
  error: null,
  stderrDropped: 0,
  leftoversEnded: false,
  peakMemoryBytes: 1.5e6,
  cpuMs: 12.5,
};
const decode = (value: unknown) => decodeRecord(Buffer.from(JSON.stringify(value) ?? ""));
const point = { generation: "1.tar", at, bytes: 5, version: "1.0" };
const state = { restored: null, restoreMs: 1, saved: true, last: point, saveMs: 2, error: null };

describe("an end record", () => {
  it("of the first release is read, with later fields as unknown", () => {
    expect(decode(first)).toEqual({ ...first, memoryLimitBytes: null });
  });

  it("needs only what proves the end", () => {
    const { type, exitCode, signal, cause, bytes, written } = first;
    const least = { type, at, exitCode, signal, cause, bytes, written };
    const unknown = { oomKills: null, error: null, peakMemoryBytes: null, memoryLimitBytes: null, cpuMs: null };
    expect(decode(least)).toEqual({ ...least, ...unknown, lines: 0, stderrDropped: 0, leftoversEnded: false });
    for (const field of Object.keys(least)) expect(decode({ ...least, [field]: undefined }), field).toBeNull();
  });

  it("may have fields of a later version, which are left out", () => {
    expect(decode({ ...first, later: { deep: [1] }, peakMemoryBytes: { form: "new" } })).toEqual({
      ...first,
      peakMemoryBytes: null,
      memoryLimitBytes: null,
    });
  });

  it.each([
    [{ exitCode: -1 }],
    [{ exitCode: 256 }],
    [{ exitCode: 1.5 }],
    [{ signal: "<b>" }],
    [{ cause: "success" }],
    [{ bytes: -1 }],
    [{ bytes: 1e300 }],
    [{ written: "10" }],
    [{ at: "x".repeat(5000) }],
  ])("with %j is none", (change) => {
    expect(decode({ ...first, ...change })).toBeNull();
  });

  it("keeps a saved state in its known form only, and no endless text", () => {
    expect(decode({ ...first, state })).toMatchObject({ state });
    expect(decode({ ...first, state: { ...state, last: { ...point, bytes: -1 } } })).toMatchObject({ state: { ...state, last: null } });
    expect(decode({ ...first, state: [] })).not.toHaveProperty("state");
    expect(decode({ ...first, error: "x".repeat(10_000) })).toMatchObject({ error: "x".repeat(4096) });
  });
});

describe("whatever an agent writes", () => {
  const hostile = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom("[".repeat(100_000), '{"type":"__proto__"}', '{"type":"constructor"}', `{"type":"end","__proto__":{"bytes":1}}`),
    fc
      .dictionary(fc.constantFrom(...Object.keys(first), "state", "text", "point", "act", "ms", "run", "nonce"), fc.jsonValue())
      .map((fields) => JSON.stringify({ ...first, ...fields })),
    fc
      .record({ type: fc.constantFrom("start", "state", "stderr", "note", "cli-started"), at: fc.jsonValue() })
      .map((value) => JSON.stringify(value)),
  );

  /** All numbers in a value. */
  const numbersIn = (value: unknown): number[] =>
    typeof value === "number" ? [value] : typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : [];

  it("decoding does not throw, and numbers are finite and not negative", () => {
    fc.assert(
      fc.property(hostile, (line) => {
        const record = decodeRecord(Buffer.from(line));
        const message = parseTermination(line, "n1");
        for (const number of [...numbersIn(record), ...numbersIn(message)]) expect(number >= 0 && Number.isFinite(number)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a termination message", () => {
  const message = { ...first, format: 1, run: "r1", nonce: "n1", finalLine: "last" };

  it("of the first release is read, one of another run or form is not", () => {
    expect(parseTermination(JSON.stringify(message), "n1")).toMatchObject({ exitCode: 3, finalLine: "last", memoryLimitBytes: null });
    expect(parseTermination(JSON.stringify({ ...message, finalLine: { a: 1 } }), "n1")).toMatchObject({ finalLine: null });
    for (const change of [{ nonce: "n2" }, { format: 2 }, { bytes: null }])
      expect(parseTermination(JSON.stringify({ ...message, ...change }), "n1")).toBeNull();
    for (const text of [null, "", "panic: x", "{", JSON.stringify({ ...message, error: "x".repeat(9000) })])
      expect(parseTermination(text, "n1")).toBeNull();
  });

  const poison = { toString: 1, valueOf: 1 };
  it.each([
    ["peakMemoryBytes", { peakMemoryBytes: poison }, { peakMemoryBytes: null }],
    ["oomKills", { oomKills: poison }, { oomKills: null }],
    ["memoryLimitBytes", { memoryLimitBytes: -1 }, { memoryLimitBytes: null }],
    ["outputSha256", { outputSha256: poison }, { exitCode: 3 }],
    ["a state's size", { state: { ...state, last: { ...point, bytes: poison } } }, { state: { ...state, last: null } }],
    ["a state's time", { state: { ...state, last: { ...point, at: poison } } }, { state: { ...state, last: null } }],
    ["an exit code as text", { exitCode: "0" }, null],
    ["an exit code that is none", { exitCode: poison }, null],
    ["fewer than no bytes", { bytes: -1 }, null],
    ["more bytes than can be counted", { written: 1e300 }, null],
    ["a nonce that is no text", { nonce: poison }, null],
  ])("with a hostile value (%s) keeps what is of its shape, or is none", (_, change, expected) => {
    const decoded = parseTermination(JSON.stringify({ ...message, ...change }), "n1");
    if (expected === null) expect(decoded).toBeNull();
    else expect(decoded).toMatchObject(expected);
    expect(decoded?.outputSha256).toBeUndefined();
  });
});
