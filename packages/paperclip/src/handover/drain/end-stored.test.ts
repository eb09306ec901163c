import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endStored } from "./end-stored.ts";

let folder = "";
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
  folder = mkdtempSync(join(tmpdir(), "paperclip-run-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

function watch(dir: unknown) {
  const stored = endStored({ context: { paperclipScratch: { dir } } });
  let isStored = false;
  /** The clock is not real, the disk is: the clock stands still while the disk has not answered. */
  const step = async () => {
    while (vi.getTimerCount() === 0 && !isStored) await new Promise((resolve) => void setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(100);
  };
  return {
    begin: () => void stored().then(() => (isStored = true)),
    isStoredAfter: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) await step();
      return isStored;
    },
    /** Hangs if it never is. */
    untilStored: async () => {
      while (!isStored) await step();
    },
  };
}

test("the end is stored when the host has removed the run's folder, however long that takes", async () => {
  const run = watch(folder);
  run.begin();
  expect(await run.isStoredAfter(10_000)).toBe(false);
  rmSync(folder, { recursive: true });
  await run.untilStored();
});

test("a host that does not remove the folder is asked in the end", async () => {
  const run = watch(folder);
  run.begin();
  await run.untilStored();
});

test.each([
  ["there is none", () => undefined],
  ["it was never there", () => join(tmpdir(), "paperclip-run-none")],
  ["it is not in the server's temporary folder", () => "/"],
  ["its path leads out of that", () => `${tmpdir()}/../etc`],
  ["it is not a text", () => ({ toString: 1 })],
])("without a folder, the host is asked after a while: %s", async (_, dir) => {
  const run = watch(dir());
  const begun = Date.now();
  run.begin();
  await run.untilStored();
  expect(Date.now() - begun).toBeGreaterThanOrEqual(5000);
  expect(Date.now() - begun).toBeLessThan(20_000);
});
