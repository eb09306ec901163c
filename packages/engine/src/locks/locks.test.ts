import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { judgeLocks, type LockFacts } from "./judge-locks.ts";
import { tryLocks } from "./try-locks.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "locks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

test("two processes exclude each other on this machine's disk, and nothing stays there, not even what an ended test left", async () => {
  const left = join(folder, "own/lock-test-left");
  mkdirSync(left, { recursive: true });
  utimesSync(left, 0, 0);
  expect(await tryLocks(folder, join(folder, "own"))).toEqual({ kind: "work", reason: "" });
  expect(readdirSync(join(folder, "own"))).toEqual([]);
});

test("a root that is not there is not made; a file in its place says nothing about locks", async () => {
  expect(await tryLocks(join(folder, "none"), join(folder, "none/own"))).toMatchObject({
    kind: "unknown",
    reason: expect.stringContaining("ENOENT"),
  });
  expect(existsSync(join(folder, "none"))).toBe(false);
  writeFileSync(join(folder, "file"), "");
  expect(await tryLocks(folder, join(folder, "file"))).toMatchObject({ kind: "unknown", reason: expect.stringContaining("EEXIST") });
});

test("a test that takes too long is ended", async () => {
  expect(await tryLocks(folder, join(folder, "own"), 1)).toMatchObject({
    kind: "broken",
    reason: expect.stringContaining("was not answered"),
  });
});

test.each<[string, Partial<LockFacts>, string]>([
  ["excluded and then let in", { held: 5, released: 0 }, "work"],
  ["not excluded", { held: 0, released: 0 }, "broken"],
  ["never let in", { held: 5, released: 5 }, "broken"],
  ["a lock is an I/O error for the first", { error: 10, message: "disk I/O error" }, "broken"],
  ["and for the second", { held: 10, released: 10 }, "broken"],
  ["a new database is locked by nobody", { error: 5, message: "database is locked" }, "broken"],
  ["the disk is full", { error: 13, message: "database or disk is full" }, "unknown"],
  ["the second was ended", { held: null, released: null }, "unknown"],
  ["no SQLite", { error: null, message: "Node 20 has no SQLite" }, "unknown"],
])("%s", (_, facts, kind) => expect(judgeLocks({ error: 0, message: "", held: null, released: null, ...facts })).toMatchObject({ kind }));
