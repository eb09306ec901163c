import { expect, test } from "vitest";
import { Drain } from "./drain.ts";

const status = (...words: string[]) => {
  let asked = 0;
  return async () => ({ status: words[Math.min(asked++, words.length - 1)] ?? "" });
};

test("runs that can leave are asked to, and count once the host has recorded it", async () => {
  const drain = new Drain();
  const visit = drain.enter({ runId: "a", detachable: true, status: status("running", "running", "scheduled") });
  visit.detach.addEventListener("abort", () => setTimeout(() => visit.leave(), 20));
  expect(await drain.begin("upgrade", 5000)).toEqual({ detached: ["a"], staying: [] });
  expect(visit.detach.reason).toMatchObject({ message: "upgrade" });
  expect([drain.active, drain.runs]).toEqual([true, []]);
});

test("a run whose host has no other way stays, and is not disturbed", async () => {
  const drain = new Drain();
  const visit = drain.enter({ runId: "old", detachable: false, status: status("running") });
  expect(await drain.begin("upgrade", 1000)).toEqual({ detached: [], staying: ["old"] });
  expect(visit.detach.aborted).toBe(false);
});

test("what does not leave in time, or is not recorded in time, is told as staying", async () => {
  const drain = new Drain();
  drain.enter({ runId: "deaf", detachable: true, status: status("running") });
  const quick = drain.enter({ runId: "unrecorded", detachable: true, status: status("running") });
  quick.detach.addEventListener("abort", () => quick.leave());
  const report = await drain.begin("upgrade", 300);
  expect(report).toEqual({ detached: [], staying: ["deaf", "unrecorded"] });
});

test("an undone drain lets runs begin again", async () => {
  const drain = new Drain();
  await drain.begin("upgrade", 10);
  let begun = false;
  const waiting = drain.over().then(() => {
    begun = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(begun).toBe(false);
  drain.end();
  await waiting;
  expect(drain.active).toBe(false);
});
