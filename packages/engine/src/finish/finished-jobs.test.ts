import { expect, test } from "vitest";
import { FinishedJobs } from "./finished-jobs.ts";

test("knows the last thousand, and hurries the one that is waited for", () => {
  const jobs = new FinishedJobs();
  const hurried: number[] = [];
  for (let n = 0; n <= 1000; n++) jobs.add(`uid-${n}`, () => hurried.push(n));
  expect(jobs.has("uid-0")).toBe(false);
  expect(jobs.has("uid-1")).toBe(true);
  jobs.hurry("uid-7");
  jobs.hurry("uid-0");
  expect(hurried).toEqual([7]);
});
