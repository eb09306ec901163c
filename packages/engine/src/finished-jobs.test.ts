import { expect, test } from "vitest";
import { FinishedJobs } from "./finished-jobs.ts";

test("knows the last thousand, and deletes the one that is waited for", () => {
  const jobs = new FinishedJobs();
  const deleted: number[] = [];
  for (let n = 0; n <= 1000; n++) jobs.add(`uid-${n}`, () => deleted.push(n));
  expect(jobs.has("uid-0")).toBe(false);
  expect(jobs.has("uid-1")).toBe(true);
  jobs.deleteNow("uid-7");
  jobs.deleteNow("uid-0");
  expect(deleted).toEqual([7]);
});
