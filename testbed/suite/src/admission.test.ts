import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createEngine, JOB_WAIT_SEC, type StatusLine } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, keyed, lateEnd, type RunOptions, startRun } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

// Runs that share a key never overlap: the Job's name is the lock.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const timed = `console.log("in " + Date.now()); setTimeout(() => console.log("out " + Date.now()), 300)`;

const RUNS = process.env.LONG ? 10 : 5;

test(`${RUNS} runs of one key, started at once, go one after the other and all finish`, async () => {
  const runs = Array.from({ length: RUNS }, () => startRun(bed, keyed("shared", { script: timed })));
  const spans: [number, number][] = [];
  for (const run of runs) {
    const { outcome, output } = await run.done;
    expect(outcome, run.status.map(({ text }) => text).join("\n")).toMatchObject({ kind: "exited", exitCode: 0 });
    spans.push([...output.toString().matchAll(/\d+/g)].map((match) => Number(match[0])) as [number, number]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  for (const [index, span] of spans.entries()) expect(span[0]).toBeGreaterThanOrEqual(spans[index - 1]?.[1] ?? 0);
});

test("the next run of a key does not wait for the end of a pod whose CLI has ended", async () => {
  const runId = randomUUID();
  const key = randomUUID();
  const gate = `${bed.data}/gate-${runId}`;
  const script = lateEnd(`${bed.data}/logs/${runId}.ndjson.meta`, gate);
  const first = startRun(bed, keyed(key, { script, runId }));
  expect((await first.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  // Far more than it takes to start a run, and less than the first one's pod has to end.
  const second = await startRun(bed, keyed(key, { script: `console.log("y")`, engine: { timeouts: { admission: 10_000 } } })).done;
  await writeFile(gate, "");
  expect(second.outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("runs of different keys overlap", async () => {
  // None of them ends before all have begun.
  const { script, release } = gatedScript(bed);
  const runs = ["a", "b", "c"].map((key) => startRun(bed, keyed(key, { script })));
  await Promise.all(runs.map((run) => run.saw("on\n")));
  await release();
  for (const { outcome } of await Promise.all(runs.map((run) => run.done))) expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("the wait for the lock owner is bounded", async () => {
  const first = startRun(bed, keyed("long", { script: `console.log("on"); setInterval(() => {}, 1000)` }));
  await first.saw("on\n");
  const { outcome } = await startRun(bed, keyed("long", { script: "", engine: { timeouts: { admission: 1000 } } })).done;
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
});

test("a Job whose result this server has given is not taken over by its next run, nor waited for", async () => {
  // Longer than any test may take: who waited for it would hang.
  const server = createEngine({ lingerMs: 3_600_000 });
  const key = randomUUID();
  const first = await startRun(bed, keyed(key, { script: `console.log("x")`, server })).done;
  expect(first.outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  const second = await startRun(bed, keyed(key, { script: `console.log("y")`, server, onLockConflict: async () => ({ kind: "adopt" }) }))
    .done;
  expect(second.output.toString()).toBe("y\n");
});

test("a Job without a time limit is waited for an hour, one with a limit until that is over; the log says so meanwhile", async () => {
  const key = randomUUID();
  const clock = createTestClock();
  const limits =
    (timeoutSec: number): RunOptions["change"] =>
    (request) => ({ ...request, limits: { ...request.limits, timeoutSec } });
  const first = startRun(bed, keyed(key, { script: `console.log("on"); setInterval(() => {}, 1000)`, change: limits(7200) }));
  await first.saw("on\n");
  const second = startRun(bed, keyed(key, { script: "", engine: { clock } }));
  await expect.poll(() => said(second.status)).toContain("waiting for Job");
  await clock.advance(6000_000);
  await expect.poll(() => said(second.status)).toMatch(/still waiting for Job .* so far/);
  await clock.advance((1200 + JOB_WAIT_SEC.pastLimit + 60) * 1000);
  expect((await second.done).outcome).toMatchObject({ kind: "blocked", byRun: first.request.runId });
  first.cancel();
  await first.done;
});

const said = (status: readonly StatusLine[]) => status.map(({ text }) => text).join("\n");

const retained: RunOptions["change"] = (request) => ({ ...request, retain: true });

test("a retained Job outlives the next runs of its key, which still take turns", async () => {
  const key = randomUUID();
  const kept = startRun(bed, keyed(key, { script: `console.log("x")`, change: retained }));
  await kept.done;
  const name = await kept.job();
  const next = Array.from({ length: 3 }, () => startRun(bed, keyed(key, { script: timed })));
  const spans: [number, number][] = [];
  for (const { done } of next) {
    const { outcome, output } = await done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { jobName: `${name}-2` } });
    spans.push([...output.toString().matchAll(/\d+/g)].map((match) => Number(match[0])) as [number, number]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  for (const [index, span] of spans.entries()) expect(span[0]).toBeGreaterThanOrEqual(spans[index - 1]?.[1] ?? 0);
  expect(await kept.jobs()).toBe(1);
  await bed.faults.deleteJob(name, "Foreground");
});
