import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Drain, type DrainReport } from "./drain.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Begins, and lets all the time pass that it has. */
async function leave(drain: Drain, patienceMs: number): Promise<DrainReport> {
  const report = drain.begin("upgrade", patienceMs);
  await vi.advanceTimersByTimeAsync(patienceMs + 10_000);
  return report;
}

const status = (...words: string[]) => {
  let asked = 0;
  return async () => ({ status: words[Math.min(asked++, words.length - 1)] ?? "" });
};

test("runs that can leave are asked to, and count once the host has recorded it", async () => {
  const drain = new Drain();
  const visit = drain.enter({ runId: "a", detachable: true, status: status("running", "running", "scheduled") });
  visit.detach.addEventListener("abort", () => setTimeout(() => visit.leave(), 20));
  expect(await leave(drain, 5000)).toEqual({ detached: ["a"], staying: [] });
  expect(visit.detach.reason).toMatchObject({ message: "upgrade" });
  expect([drain.active, drain.runs]).toEqual([true, []]);
});

test("a run whose host has no other way stays, and is not disturbed", async () => {
  const drain = new Drain();
  const visit = drain.enter({ runId: "old", detachable: false, status: status("running") });
  expect(await leave(drain, 1000)).toEqual({ detached: [], staying: ["old"] });
  expect(visit.detach.aborted).toBe(false);
});

test("what does not leave in time, or is not recorded in time, is told as staying", async () => {
  const drain = new Drain();
  drain.enter({ runId: "deaf", detachable: true, status: status("running") });
  const quick = drain.enter({ runId: "unrecorded", detachable: true, status: status("running") });
  quick.detach.addEventListener("abort", () => quick.leave());
  const report = await leave(drain, 300);
  expect(report).toEqual({ detached: [], staying: ["deaf", "unrecorded"] });
});

test("a host that failed at recording it starts nothing by itself: told as staying", async () => {
  const drain = new Drain();
  const enter = (runId: string, errorCode: string) => {
    const visit = drain.enter({ runId, detachable: true, status: async () => ({ status: "failed", errorCode }) });
    visit.detach.addEventListener("abort", () => visit.leave());
  };
  enter("recorded", "k8s_detached");
  enter("lost", "adapter_failed");
  expect(await leave(drain, 1000)).toEqual({ detached: ["recorded"], staying: ["lost"] });
});

const detached = async () => ({ status: "failed", errorCode: "k8s_detached" });

test("recorded is not enough: the host must have finished with the run", async () => {
  const drain = new Drain();
  const enter = (runId: string, lastWord: () => Promise<boolean>) => {
    const visit = drain.enter({ runId, detachable: true, status: detached, lastWord });
    visit.detach.addEventListener("abort", () => visit.leave());
  };
  let asked = 0;
  enter("slow", async () => ++asked === 3);
  enter("never", async () => false);
  expect(await leave(drain, 1200)).toEqual({ detached: ["slow"], staying: ["never"] });
  expect(asked).toBe(3);
});

test("runs leave four at a time, and none is asked whose turn would come too late", async () => {
  const drain = new Drain();
  const order: string[] = [];
  const visits = Array.from({ length: 9 }, (_, index) => {
    const runId = `r${index}`;
    const finished = async () => {
      await new Promise((resolve) => setTimeout(resolve, 900));
      return order.push(`${runId} done`) > 0;
    };
    const visit = drain.enter({ runId, detachable: true, status: detached, lastWord: finished });
    visit.detach.addEventListener("abort", () => {
      order.push(`${runId} asked`);
      visit.leave();
    });
    return visit;
  });
  const report = await leave(drain, 3000);
  expect(order.findIndex((step) => step.endsWith("done"))).toBe(4);
  expect(report).toEqual({ detached: ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"], staying: ["r8"] });
  expect(visits[8]?.detach.aborted).toBe(false);
});

test("a run that is turned away meanwhile is waited for too", async () => {
  const drain = new Drain();
  const visit = drain.enter({ runId: "a", detachable: true, status: detached });
  const late = { runId: "late", detachable: true, status: status("running", "running", "scheduled") };
  visit.detach.addEventListener("abort", () => {
    drain.turnAway(late);
    visit.leave();
  });
  expect(await leave(drain, 3000)).toEqual({ detached: ["a", "late"], staying: [] });
});

test("an undone drain lets runs begin again", async () => {
  const drain = new Drain();
  await leave(drain, 10);
  let begun = false;
  const waiting = drain.over().then(() => {
    begun = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toBe(false);
  drain.end();
  await vi.advanceTimersByTimeAsync(1_000);
  await waiting;
  expect(drain.active).toBe(false);
});
