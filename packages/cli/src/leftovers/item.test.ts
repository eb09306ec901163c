import { expect, test } from "vitest";
import { keep, remove } from "./decision.ts";
import { type Item, itemLines, totals } from "./item.ts";

const now = Date.parse("2026-01-03T00:00:00Z");
const item = (change: Partial<Item>): Item => ({
  kind: "job",
  name: "agents/otto",
  since: "2026-01-01T00:00:00Z",
  bytes: null,
  decision: remove("finished"),
  remove: async () => "deleted",
  ...change,
});

test("what goes and why, then what stays and why", () => {
  const items = [item({}), item({ kind: "files", bytes: 1_234_567 }), item({ decision: keep("nobody knows") })];
  expect(itemLines(items, now)).toEqual([
    "WHAT   AGE",
    "job    2d   finished; agents/otto",
    "files  2d   finished, 1.2 MB; agents/otto",
    "left alone:",
    "WHAT  AGE",
    "job   2d   nobody knows; agents/otto",
  ]);
  expect(totals(items)).toBe("2 leftovers (1.2 MB), 1 left alone");
  expect(totals([item({})])).toBe("1 leftover");
  expect(itemLines([], now)).toEqual([]);
});
