import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OUTPUT_KEPT_MS, removeBundle, staleBundles, sweepBundles, sweepOutputs, sweepStates } from "./sweep-up.ts";

const HOUR = 3_600_000;
const NOW = Date.now();
const LONG_AGO = new Date(NOW - 400 * 24 * HOUR);
const keep = { stateRetentionDays: 90, stateMaxTasks: 500, timeoutSec: 0, maxRunSec: 86_400 };

let top: string;
let root: string;
let outside: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "sweep-"));
  root = join(top, "volume");
  outside = join(top, "server");
  for (const folder of [join(root, "company"), outside]) mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function old(path: string): string {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "f"), "x");
  utimesSync(path, LONG_AGO, LONG_AGO);
  return path;
}

const states = (folder: string, now = NOW) => sweepStates({ root, own: join(folder, "own") }, keep, now);
const bundles = (folder: string, now = NOW) => sweepBundles({ root, folder }, now);

test.each([
  ["sessions", states],
  ["bundles", bundles],
])("%s: nothing is removed by way of a link", async (_, sweep) => {
  old(join(outside, "logs"));
  symlinkSync(outside, join(root, "company/link"));
  const link = join(root, "company/link");
  expect(await sweep(link)).toEqual({ removed: [], problems: [expect.stringContaining(`${link} is a link`)] });
  expect(await sweep(link, NOW + 2 * HOUR)).toEqual({ removed: [], problems: [] });
  symlinkSync(join(root, "company"), join(root, "within"));
  expect((await sweep(join(root, "within"))).problems).toHaveLength(1);
  old(join(root, "company/gone"));
  symlinkSync(join(outside, "logs"), join(root, "company/gone/link"));
  utimesSync(join(root, "company/gone"), LONG_AGO, LONG_AGO);
  expect((await sweep(join(root, "company"))).removed).toEqual(["gone"]);
  expect(existsSync(join(outside, "logs/f"))).toBe(true);
});

test("what cannot be removed is reported once, and the rest goes", async () => {
  const deep = old(join(root, "company/deep"));
  mkdirSync(join(deep, Array(80).fill("d").join("/")), { recursive: true });
  utimesSync(deep, LONG_AGO, LONG_AGO);
  old(join(root, "company/a"));
  old(join(root, "company/z"));
  const { removed, problems } = await states(join(root, "company"));
  expect([...removed].sort()).toEqual(["a", "z"]);
  expect(problems).toEqual([expect.stringMatching(/company\/deep could not be cleaned up: .* is too deep/)]);
  for (const hours of [30, 32, 60]) {
    const again = await states(join(root, "company"), NOW + hours * HOUR);
    expect([again.removed, again.problems.length]).toEqual([[], hours === 30 ? 1 : 0]);
  }
});

test("the session that the run at hand is about to resume stays, however old", async () => {
  for (const task of ["own", "other"]) old(join(root, "company", task));
  expect(await states(join(root, "company"))).toEqual({ removed: ["other"], problems: [] });
  expect(readdirSync(join(root, "company"))).toEqual(["own"]);
});

test("a folder that is not there is no trouble", async () => {
  expect(await states(join(root, "nowhere/at/all"))).toEqual({ removed: [], problems: [] });
});

test("what comes into use between the search and the move is given back", async () => {
  old(join(root, "company/a"));
  const [stale] = await staleBundles({ root, folder: join(root, "company") }, NOW);
  utimesSync(join(root, "company/a"), new Date(NOW), new Date(NOW));
  expect(await removeBundle(stale!, NOW)).toBe(false);
  expect(readdirSync(join(root, "company/a"))).toEqual(["f"]);
  utimesSync(join(root, "company/a"), LONG_AGO, LONG_AGO);
  expect(await removeBundle(stale!, NOW)).toBe(true);
  expect(readdirSync(join(root, "company"))).toEqual([]);
});

test("ends of outputs go by their age, and nothing beside them", async () => {
  const folder = join(root, "company/agent/kept-output");
  mkdirSync(folder, { recursive: true });
  for (const name of ["old.ndjson", "new.ndjson"]) writeFileSync(join(folder, name), "x\n");
  const beside = join(root, "company/agent/run.ndjson");
  writeFileSync(beside, "the host's own");
  for (const path of [join(folder, "old.ndjson"), beside]) utimesSync(path, LONG_AGO, LONG_AGO);
  utimesSync(join(folder, "new.ndjson"), new Date(NOW - OUTPUT_KEPT_MS + HOUR), new Date(NOW - OUTPUT_KEPT_MS + HOUR));
  expect(await sweepOutputs({ root, folder }, NOW)).toEqual({ removed: ["old.ndjson"], problems: [] });
  expect([readdirSync(folder), existsSync(beside)]).toEqual([["new.ndjson"], true]);
  expect(await sweepOutputs({ root, folder: join(root, "company/other/kept-output") }, NOW)).toEqual({ removed: [], problems: [] });
});
