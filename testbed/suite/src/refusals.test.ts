import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, startRun } from "./run.ts";

// 403s that come and go, and those that have nothing to do with permissions.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const refusal = (verb: string, resource: string, group: string) =>
  `${resource} is forbidden: User "u" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "${bed.namespace}"`;

test("a Role that is taken away during a run: reported once, by name; the run goes on and sees again", async () => {
  const { script, release } = gatedScript(bed);
  const run = startRun(bed, { script });
  await run.saw("on\n");
  const fault = bed.faults.fail(
    { verb: ["list", "watch"], resource: "pods" },
    { status: 403, times: 999, message: refusal("watch", "pods", "") },
  );
  bed.faults.cutWatches();
  const reported = () => run.status.filter(({ text }) => text.includes('needs "watch" on "pods"'));
  await expect.poll(() => reported().length).toBe(1);
  fault.undo();
  await expect.poll(() => run.status.some(({ text }) => text === "the API server is back")).toBe(true);
  await release();
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect(output.toString()).toBe("on\noff\n");
  expect(reported()).toHaveLength(1);
  expect(reported()[0]).toMatchObject({ level: "warning", text: expect.stringContaining("the run goes on") });
});

test("a Role that is gone when a run begins, and back when the next one does", async () => {
  const before = startRun(bed, { script: `console.log("hello")` });
  expect((await before.done).outcome).toMatchObject({ kind: "exited" });
  const message = refusal("list", "jobs", "batch");
  const fault = bed.faults.fail({ verb: ["list", "watch"], resource: "jobs" }, { status: 403, times: 999, message });
  bed.faults.cutWatches();
  // At the second try the answer to the first one has been read: until then a run that begins is followed by what is known.
  await expect.poll(() => fault.hits).toBeGreaterThan(1);
  const { outcome } = await startRun(bed, { script: `console.log("hello")` }).done;
  expect(outcome).toMatchObject({
    kind: "never-started",
    permanent: true,
    message: expect.stringContaining('needs "list" on "jobs.batch"'),
  });
  fault.undo();
  const next = await startRun(bed, { script: `console.log("hello")` }).done;
  expect(next.outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});

test.each([
  ["create", "jobs", "batch"],
  ["create", "secrets", ""],
] as const)("an API server that has just started and refuses %s %s for a moment", async (verb, resource, group) => {
  const fault = bed.faults.fail({ verb, resource }, { status: 403, times: 2, message: refusal(verb, resource, group) });
  const run = startRun(bed, { script: `console.log("hello")` });
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(fault.hits).toBe(2);
  expect(run.status.some(({ level, text }) => level === "warning" && text.includes(`needs "${verb}" on`))).toBe(true);
});

test("an API server that refuses a Job's deletion for a moment: the result is given, and the Job deleted later", async () => {
  const message = refusal("delete", "jobs", "batch");
  const fault = bed.faults.fail({ verb: "delete", resource: "jobs" }, { status: 403, times: 1, message });
  const run = startRun(bed, { script: `console.log("hello")` });
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  await expect.poll(() => run.jobs()).toBe(0);
  expect(fault.hits).toBe(1);
  expect(run.status.some(({ level, text }) => level === "warning" && text.includes("cleaning up failed"))).toBe(true);
});

test("a full quota is no missing permission, and passes", async () => {
  const message = 'jobs.batch "x" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: count/jobs.batch=5';
  bed.faults.fail({ verb: "create", resource: "jobs" }, { status: 403, message });
  const { outcome } = await startRun(bed, { script: "" }).done;
  expect(outcome).toMatchObject({ kind: "never-started", permanent: false, message: expect.stringContaining("exceeded quota") });
  expect("message" in outcome ? outcome.message : "").not.toContain("needs");
});

test("a webhook's denial is reported in its own words, and lasts", async () => {
  const message = 'admission webhook "policy.example.io" denied the request: images must come from the company registry';
  bed.faults.fail({ verb: "create", resource: "jobs" }, { status: 403, message });
  const { outcome } = await startRun(bed, { script: "" }).done;
  expect(outcome).toMatchObject({ kind: "never-started", permanent: true, message: expect.stringContaining("company registry") });
});
