import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sweepStates } from "./sweep-up.ts";

const DAY = 86_400_000;
const NOW = Date.now();
const keep = { stateRetentionDays: 90, stateMaxTasks: 500, timeoutSec: 0, maxRunSec: 86_400 };

const sweep = async (root: string, keep: Parameters<typeof sweepStates>[1], now: number) => [
  ...(await sweepStates({ root, own: join(root, "own") }, keep, now)).removed,
];

/** Saved sessions, by the days since they were used. */
function folderWith(ages: Readonly<Record<string, number>>): string {
  const folder = mkdtempSync(join(tmpdir(), "states-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, days] of Object.entries(ages)) {
    mkdirSync(join(folder, name));
    const file = join(folder, name, "current");
    writeFileSync(file, "{}");
    utimesSync(file, new Date(NOW - days * DAY), new Date(NOW - days * DAY));
  }
  return folder;
}

test("by age: what was used within the time stays", async () => {
  const folder = folderWith({ old: 91, older: 400, young: 89, fresh: 0 });
  expect((await sweep(folder, keep, NOW)).sort()).toEqual(["old", "older"]);
  expect(readdirSync(folder).sort()).toEqual(["fresh", "young"]);
});

test("by count: the longest unused go, but none that a run may be using", async () => {
  const folder = folderWith({ a: 0, b: 1, c: 1.5, d: 3, e: 4 });
  expect((await sweep(folder, { ...keep, stateMaxTasks: 1 }, NOW)).sort()).toEqual(["d", "e"]);
  const long = folderWith({ a: 0, d: 3, e: 12 });
  expect(await sweep(long, { ...keep, stateMaxTasks: 1, timeoutSec: 10 * 86_400 }, NOW)).toEqual(["e"]);
});

test("at most once an hour; the remains of a sweep that was broken off go too", async () => {
  const folder = folderWith({ ".removing-x": 2, fresh: 0 });
  expect(await sweep(folder, keep, NOW)).toEqual([".removing-x"]);
  mkdirSync(join(folder, "old"));
  utimesSync(join(folder, "old"), new Date(0), new Date(0));
  expect(await sweep(folder, keep, NOW + 3_599_000)).toEqual([]);
  expect(await sweep(folder, keep, NOW + 3_601_000)).toEqual(["old"]);
});
