import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { gatedScript, keyed, type RunHandle, startRun } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

// Somebody changes labels, as policies and people do: the watch then reports a deletion that there was not.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

const said = (run: RunHandle, text: string) => expect.poll(() => run.status.some((line) => line.text.includes(text))).toBe(true);

test("a Job that loses its labels: its run follows it to its end, and who waits for its name asks now and then", async () => {
  const key = randomUUID();
  const gate = gatedScript(bed);
  const run = startRun(bed, keyed(key, { script: gate.script }));
  await run.saw("on");
  const clock = createTestClock();
  const engine = { clock, timeouts: { admission: 36e8, admissionMost: 36e8 } };
  const next = startRun(bed, keyed(key, { script: `console.log("next")`, engine }));
  await said(next, "waiting for Job");
  const job = await run.job();
  await bed.relabel("jobs", job, { "suite.test/managed": null });
  await said(run, "no longer has the labels by which it is found");
  await said(next, "it is looked at by its name");
  const before = bed.requests.length;
  const asked = () =>
    bed.requests.slice(before).flatMap(({ watch, verb, resource, name }) => (watch ? [] : [`${verb} ${resource} ${name}`]));
  // The run itself looks at it every 10 s.
  await clock.hurry(expect.poll(() => asked().length).toBeGreaterThanOrEqual(5));
  expect(new Set(asked())).toEqual(new Set([`get jobs ${job}`]));
  await gate.release();
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect((await next.done).output.toString()).toBe("next\n");
});

test("a pod that loses its labels goes on, and its end is seen", async () => {
  const gate = gatedScript(bed);
  const run = startRun(bed, { script: gate.script });
  await run.saw("on");
  await bed.relabel("pods", await run.pod(), { "suite.test/managed": null });
  await said(run, "the pod of Job");
  await gate.release();
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});

test.each([
  ["", []],
  [", also one that had lost its labels and got them back", [null, "yes"]],
])("a Job that is deleted from outside is still reported as such%s", async (_, labels) => {
  const run = startRun(bed, { script: gatedScript(bed).script });
  await run.saw("on");
  for (const label of labels) {
    await bed.relabel("jobs", await run.job(), { "suite.test/managed": label });
    await said(run, "no longer has the labels by which it is found");
  }
  await bed.faults.deleteJob(await run.job(), "Background");
  expect((await run.done).outcome).toMatchObject({ kind: "deleted" });
});
