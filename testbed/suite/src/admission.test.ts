import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { type RunOptions, startRun } from "./run.ts";

// Runs that share a key never overlap: the Job's name is the lock.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

const keyed = (key: string, options: RunOptions = {}): RunOptions => ({
  ...options,
  change: (request) => ({ ...request, exclusive: key, name: { prefix: "suite-", parts: [key], identity: key } }),
});
const timed = `console.log("in " + Date.now()); setTimeout(() => console.log("out " + Date.now()), 300)`;

test("ten runs of one key, started at once, go one after the other and all finish", async () => {
  const runs = Array.from({ length: 10 }, () => startRun(bed, keyed("shared", { script: timed })));
  const spans: [number, number][] = [];
  for (const run of runs) {
    const { outcome, output } = await run.done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    spans.push([...output.toString().matchAll(/\d+/g)].map((match) => Number(match[0])) as [number, number]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  for (const [index, span] of spans.entries()) expect(span[0]).toBeGreaterThanOrEqual(spans[index - 1]?.[1] ?? 0);
}, 60_000);

test("runs of different keys overlap", async () => {
  const runs = ["a", "b", "c"].map((key) => startRun(bed, keyed(key, { script: `console.log("on"); setTimeout(() => {}, 1500)` })));
  await Promise.all(runs.map((run) => run.saw("on\n")));
  await Promise.all(runs.map((run) => run.done));
});

test("who waits says for which Job, and can be cancelled", async () => {
  const first = startRun(bed, keyed("held", { script: `console.log("on"); setInterval(() => {}, 1000)` }));
  await first.saw("on\n");
  const second = startRun(bed, keyed("held", { script: "" }));
  await expect
    .poll(() => second.status.find((line) => line.text.startsWith("waiting for Job"))?.text, { timeout: 5000 })
    .toContain(first.request.runId);
  second.cancel();
  expect((await second.done).outcome).toMatchObject({ kind: "cancelled" });
  expect(await first.jobs()).toBe(1);
  first.cancel();
  expect((await first.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
});

test("patience with the holder is bounded", async () => {
  const first = startRun(bed, keyed("long", { script: `console.log("on"); setInterval(() => {}, 1000)` }));
  await first.saw("on\n");
  const { outcome } = await startRun(bed, keyed("long", { script: "", engine: { policy: { admission: 1000 } } })).done;
  expect(outcome).toMatchObject({ kind: "blocked", byRun: first.request.runId });
  first.cancel();
  await first.done;
});

test("a finished Job that nobody removes does not hold the key for ever", async () => {
  const fault = bed.faults.fail({ verb: "delete", resource: "jobs" }, { status: 403, times: 99 });
  const first = startRun(bed, keyed("stale", { script: `console.log("x")` }));
  expect((await first.done).outcome).toMatchObject({ kind: "exited" });
  fault.undo();
  const second = startRun(bed, keyed("stale", { script: `console.log("y")` }));
  expect((await second.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(second.status.some((line) => line.text.includes("removing finished Job"))).toBe(true);
}, 30_000);
