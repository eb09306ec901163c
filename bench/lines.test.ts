import { expect, test } from "vitest";
import { lineRows, lostAndTwice, returnOf, stampedRuns, startOf } from "./lines.ts";
import type { RunRecord } from "./protocol.ts";

const record = (log: RunRecord["log"], exitCode = 0): RunRecord => ({ id: 1, calledAt: 100, returnedAt: 900, exitCode, error: null, log });
const runs = stampedRuns([
  record([
    { at: 210, text: "CLI started\nline 0 at 200\n" },
    { at: 320, text: `{"text":"line 1 at 300"}\n{"text":"line 1 at 300"}\n` },
  ]),
]);

test("start, return, and lines that are missing or there twice are read off the stamps", () => {
  expect([startOf(runs[0]!), returnOf(runs[0]!)]).toEqual([100, 600]);
  expect(lostAndTwice(runs, 3)).toEqual({ lost: 1, twice: 1 });
});

test("a budget is missed by its p50 or its p99; without one the row only shows", () => {
  const okOf = (budget: Parameters<typeof lineRows>[3]) => lineRows("x", runs, 3, budget).map(({ ok }) => ok);
  expect(okOf({ p50: 20, p99: 20 })).toEqual([true, false]);
  expect(okOf({ p50: 20, p99: 19 })).toEqual([false, false]);
  expect(okOf({ p50: 19, p99: null })).toEqual([false, false]);
  expect(okOf(null)).toEqual([null, false]);
});

test("a run that failed measures nothing", () => {
  expect(() => stampedRuns([record([], 1)])).toThrow("failed");
});
