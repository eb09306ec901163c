import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HostRecord } from "./host-record.ts";
import { type DrainReport, type RegisteredRun, type Registration, RunRegistry } from "./run-registry.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Drains, and lets all the time pass that it has. */
async function drain(registry: RunRegistry, timeoutMs: number): Promise<DrainReport> {
  const report = registry.drain("upgrade", timeoutMs);
  await vi.advanceTimersByTimeAsync(timeoutMs + 10_000);
  return report;
}

/** A host that shows these statuses one after the other, and is finished with the run at once. */
function record(...statuses: string[]): HostRecord {
  let asked = 0;
  const run = async () => ({ status: statuses[Math.min(asked++, statuses.length - 1)] ?? "", errorCode: null });
  return { stored: async () => {}, run, isFinished: async () => true };
}
const failed = (errorCode: string, isFinished = async () => true): HostRecord => ({
  stored: async () => {},
  run: async () => ({ status: "failed", errorCode }),
  isFinished,
});
const detached = failed("k8s_detached");

/** A run that ends as soon as it is asked to. */
function obedient(registry: RunRegistry, run: Pick<RegisteredRun, "runId" | "record">, onDetach = () => {}): Registration {
  const registration = registry.register({ detachable: true, ...run });
  registration.detach.addEventListener("abort", () => {
    onDetach();
    registration.end();
  });
  return registration;
}

test("runs that can be detached are, and count once the host has recorded it", async () => {
  const registry = new RunRegistry();
  const registration = registry.register({ runId: "a", detachable: true, record: record("running", "running", "scheduled") });
  registration.detach.addEventListener("abort", () => setTimeout(() => registration.end(), 20));
  expect(await drain(registry, 5000)).toEqual({ detached: ["a"], staying: [] });
  expect(registration.detach.reason).toMatchObject({ message: "upgrade" });
  expect([registry.isDraining, registry.runs]).toEqual([true, []]);
});

test("a run whose host cannot continue it stays, and is not disturbed", async () => {
  const registry = new RunRegistry();
  const registration = registry.register({ runId: "old", detachable: false, record: record("running") });
  expect(await drain(registry, 1000)).toEqual({ detached: [], staying: ["old"] });
  expect(registration.detach.aborted).toBe(false);
});

test("what does not end in time, or is not recorded in time, is reported as staying", async () => {
  const registry = new RunRegistry();
  registry.register({ runId: "stuck", detachable: true, record: record("running") });
  obedient(registry, { runId: "unrecorded", record: record("running") });
  expect(await drain(registry, 300)).toEqual({ detached: [], staying: ["stuck", "unrecorded"] });
});

test("the host is asked nothing about a run before it has stored its end, detached and refused runs alike", async () => {
  const registry = new RunRegistry();
  const asked: string[] = [];
  const stored = new Set<string>();
  const late = (runId: string): HostRecord => ({
    stored: () => new Promise((resolve) => void setTimeout(() => resolve(void stored.add(runId)), 4000)),
    run: async () => {
      if (!stored.has(runId)) asked.push(runId);
      return detached.run();
    },
    isFinished: async () => stored.has(runId) || asked.push(runId) === 0,
  });
  const refused = { runId: "b", detachable: true, record: late("b") };
  obedient(registry, { runId: "a", record: late("a") }, () => registry.refuse(refused));
  expect(await drain(registry, 20_000)).toEqual({ detached: ["a", "b"], staying: [] });
  expect(asked).toEqual([]);
});

test("a host that still has a run as running is asked rarely", async () => {
  const registry = new RunRegistry();
  let asked = 0;
  const run = async () => ({ status: ++asked > 0 ? "running" : "", errorCode: null });
  obedient(registry, { runId: "a", record: { ...detached, run } });
  await drain(registry, 10_000);
  expect(asked).toBeLessThanOrEqual(6);
});

test("a host that failed at recording it starts nothing by itself, so the run is reported as staying", async () => {
  const registry = new RunRegistry();
  obedient(registry, { runId: "recorded", record: detached });
  obedient(registry, { runId: "lost", record: failed("adapter_failed") });
  expect(await drain(registry, 1000)).toEqual({ detached: ["recorded"], staying: ["lost"] });
});

test("the first status that a host records need not be the last one", async () => {
  const registry = new RunRegistry();
  const codes = ["adapter_failed", "adapter_failed", "k8s_detached"];
  const run = async () => ({ status: "failed", errorCode: codes.length > 1 ? (codes.shift() ?? null) : (codes[0] ?? null) });
  obedient(registry, { runId: "a", record: { ...detached, run } });
  expect(await drain(registry, 5000)).toEqual({ detached: ["a"], staying: [] });
});

test("recorded is not enough: the host must have finished with the run", async () => {
  const registry = new RunRegistry();
  let asked = 0;
  obedient(registry, { runId: "slow", record: failed("k8s_detached", async () => ++asked === 3) });
  obedient(registry, { runId: "never", record: failed("k8s_detached", async () => false) });
  expect(await drain(registry, 1200)).toEqual({ detached: ["slow"], staying: ["never"] });
  expect(asked).toBe(3);
});

test("a drain ends at its deadline although the host answers nothing, for detached and refused runs alike", async () => {
  const registry = new RunRegistry();
  const never = () => new Promise<never>(() => {});
  const silent = { ...detached, run: never, isFinished: never };
  obedient(registry, { runId: "a", record: silent }, () => registry.refuse({ runId: "late", detachable: true, record: silent }));
  obedient(registry, { runId: "b", record: { ...detached, isFinished: never } });
  expect(await drain(registry, 1000)).toEqual({ detached: [], staying: ["a", "b", "late"] });
});

test("runs are detached four at a time, and none that would come too late", async () => {
  const registry = new RunRegistry();
  const order: string[] = [];
  const registrations = Array.from({ length: 9 }, (_, index) => {
    const runId = `r${index}`;
    const isFinished = async () => {
      await new Promise((resolve) => setTimeout(resolve, 900));
      return order.push(`${runId} done`) > 0;
    };
    return obedient(registry, { runId, record: failed("k8s_detached", isFinished) }, () => order.push(`${runId} asked`));
  });
  const report = await drain(registry, 3000);
  expect(order.findIndex((step) => step.endsWith("done"))).toBe(4);
  expect(report).toEqual({ detached: ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"], staying: ["r8"] });
  expect(registrations[8]?.detach.aborted).toBe(false);
});

test("a run that is refused meanwhile is waited for too", async () => {
  const registry = new RunRegistry();
  const late = { runId: "late", detachable: true, record: record("running", "running", "scheduled") };
  obedient(registry, { runId: "a", record: detached }, () => registry.refuse(late));
  expect(await drain(registry, 5000)).toEqual({ detached: ["a", "late"], staying: [] });
});

test("a run that is refused while another refused one is waited for is waited for too", async () => {
  const registry = new RunRegistry();
  const last = { runId: "last", detachable: true, record: record("running", "scheduled") };
  const statuses = ["running", "running", "scheduled"];
  const run = async () => {
    if (statuses.length === 2) registry.refuse(last);
    return { status: statuses.shift() ?? "scheduled", errorCode: null };
  };
  registry.register({ runId: "here", detachable: false, record: null });
  const report = registry.drain("upgrade", 7000);
  registry.refuse({ runId: "first", detachable: true, record: { ...detached, run } });
  await vi.advanceTimersByTimeAsync(17_000);
  expect(await report).toEqual({ detached: ["first", "last"], staying: ["here"] });
});

test("after an undone drain runs may start again", async () => {
  const registry = new RunRegistry();
  await drain(registry, 10);
  let started = false;
  const waiting = registry.whenOpen(new AbortController().signal).then(() => {
    started = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(started).toBe(false);
  registry.undoDrain();
  await vi.advanceTimersByTimeAsync(1_000);
  await waiting;
  expect(registry.isDraining).toBe(false);
});
