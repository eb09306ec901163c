import { expect, test } from "vitest";
import { addSettled, createSettledJobs, settledJobsOfProcess } from "./settled-jobs.ts";

const settled = { ended: true, free: () => Promise.resolve() };

test("the last thousand settled Jobs are known", () => {
  const known = createSettledJobs();
  for (let n = 0; n <= 1000; n++) addSettled(known, `uid-${n}`, settled);
  expect(known.jobs.size).toBe(1000);
  expect(known.jobs.has("uid-0")).toBe(false);
  expect(known.jobs.has("uid-1")).toBe(true);
});

test("a second load of this code, as a host that reloads an adapter makes it, knows them too", async () => {
  const again: typeof import("./settled-jobs.ts") = await import(`${"./settled-jobs.ts"}?again`);
  expect(again.settledJobsOfProcess).not.toBe(settledJobsOfProcess);
  const heard: string[] = [];
  const listen = (uid: string) => void heard.push(uid);
  again.settledJobsOfProcess().listeners.add(listen);
  addSettled(settledJobsOfProcess(), "uid-of-another-load", settled);
  again.settledJobsOfProcess().listeners.delete(listen);
  expect(again.settledJobsOfProcess().jobs.get("uid-of-another-load")).toBe(settled);
  expect(heard).toEqual(["uid-of-another-load"]);
  settledJobsOfProcess().jobs.delete("uid-of-another-load");
});
