import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import type { BedFaults } from "./bed-faults.ts";
import { calm } from "./calm.ts";
import { finishRun, gatedScript, startRun } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

// Trouble on the wire in each phase of a run: none of it may become a success, a timeout or a deletion.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const rejections: unknown[] = [];
const note = (reason: unknown) => rejections.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));
afterEach(() => expect(rejections).toEqual([]));

const HELLO = `console.log("hello")`;

async function expectGood(run: ReturnType<typeof startRun>, output: string): Promise<void> {
  const done = await run.done;
  expect(done.outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect(done.output.toString()).toBe(output);
}

type Trouble = (faults: BedFaults, match: { verb: "create" | "delete"; resource: string }) => unknown;
const passing: [string, Trouble][] = [
  ["500", (faults, match) => faults.fail(match, { status: 500 })],
  ["503 twice", (faults, match) => faults.fail(match, { status: 503, times: 2 })],
  ["401 four times, while the authenticator is away", (faults, match) => faults.fail(match, { status: 401, times: 4 })],
  ["429 with Retry-After", (faults, match) => faults.fail(match, { status: 429, retryAfter: 1 })],
  ["a connection lost before it took effect", (faults, match) => faults.drop(match, { when: "before" })],
  ["a connection lost after it took effect", (faults, match) => faults.drop(match, { when: "after" })],
  ["an answer that is late", (faults, match) => faults.delay(match, 500)],
];

describe("submit", () => {
  test.each(passing)("creating the Job: %s", async (_, make) => {
    make(bed.faults, { verb: "create", resource: "jobs" });
    await expectGood(startRun(bed, { script: HELLO }), "hello\n");
  });

  test.each(passing)("creating the Secret: %s", async (_, make) => {
    make(bed.faults, { verb: "create", resource: "secrets" });
    await expectGood(startRun(bed, { script: HELLO }), "hello\n");
  });

  test("a forbidden Job is a clear error, and nothing is left", async () => {
    const fault = bed.faults.fail({ verb: "create", resource: "jobs" }, { status: 403, times: 99 });
    const { outcome } = await finishRun(bed, { script: HELLO });
    fault.undo();
    expect(outcome).toMatchObject({ kind: "never-started", cause: "job-create-failed", message: expect.stringMatching(/forbidden/i) });
  });

  test("a forbidden Secret takes the Job back", async () => {
    const fault = bed.faults.fail({ verb: "create", resource: "secrets" }, { status: 403, times: 99 });
    const run = startRun(bed, { script: HELLO });
    const { outcome } = await run.done;
    fault.undo();
    expect(outcome).toMatchObject({ kind: "never-started", cause: "secret-create-failed" });
    await expect.poll(() => run.jobs()).toBe(0);
  });

  test("an API server that is down when the run begins", async () => {
    await bed.faults.down();
    const run = startRun(bed, { script: HELLO });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await bed.faults.up();
    await expectGood(run, "hello\n");
  });

  test("an API server that stays down: nothing was created, and that is what is said", async () => {
    await bed.faults.down();
    // A connection that breaks while a request is on it leaves open what became of it; here it is broken before.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const clock = createTestClock();
    const { outcome } = await clock.hurry(finishRun(bed, { script: HELLO, engine: { clock } }));
    await bed.faults.up();
    expect(outcome).toMatchObject({ kind: "never-started", cause: "job-create-failed", permanent: false });
  });

  test("a Secret that comes after a long outage still starts the run", async () => {
    const fault = bed.faults.fail({ verb: "create", resource: "secrets" }, { status: 503, times: 99 });
    const clock = createTestClock();
    const timeouts = { schedule: 36e6, start: 36e6, noPod: 36e6, missingVolume: 36e6 };
    const run = startRun(bed, { script: HELLO, engine: { clock, timeouts } });
    await clock.hurry(expect.poll(() => run.status.some((line) => line.text.includes("not confirmed yet"))).toBe(true));
    fault.undo();
    await expectGood(run, "hello\n");
  });

  test("a Secret whose answers are all lost: the run goes on", async () => {
    const fault = bed.faults.drop({ verb: "create", resource: "secrets" }, { when: "after", times: 1 });
    const refused = bed.faults.fail({ verb: "create", resource: "secrets" }, { status: 503, times: 3 });
    await expectGood(startRun(bed, { script: HELLO }), "hello\n");
    fault.undo();
    refused.undo();
  });
});

describe("follow", () => {
  test("watches that are cut, again and again", async () => {
    const { script, release } = gatedScript(bed);
    const run = startRun(bed, { script });
    for (let cut = 0; cut < 10; cut++) {
      bed.faults.cutWatches();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await run.saw("on\n");
    await release();
    await expectGood(run, "on\noff\n");
  });

  test("watches that say nothing: the files tell", async () => {
    const fault = bed.faults.silenceWatches();
    const { script, release } = gatedScript(bed);
    const run = startRun(bed, { script });
    await run.saw("on\n");
    await release();
    await expectGood(run, "on\noff\n");
    fault.undo();
  });

  test.each(["event", "http"] as const)("a history that has expired (410 as %s)", async (as) => {
    const { script, release } = gatedScript(bed);
    const run = startRun(bed, { script });
    await run.saw("on\n");
    const lists = () => bed.requests.filter(({ verb }) => verb === "list").length;
    const before = lists();
    bed.faults.expireHistory({ as });
    bed.faults.cutWatches();
    await expect.poll(lists).toBeGreaterThan(before);
    await release();
    await expectGood(run, "on\noff\n");
  });

  test("events that come twice", async () => {
    const fault = bed.faults.duplicateEvents();
    const run = startRun(bed, { script: HELLO });
    await expectGood(run, "hello\n");
    fault.undo();
    expect(new Set(run.status.map((line) => line.text)).size).toBe(run.status.length);
  });

  test("an API server that is down in the middle, and the CLI ends meanwhile", async () => {
    const { script, release } = gatedScript(bed);
    const run = startRun(bed, { script });
    await run.saw("on\n");
    await bed.faults.down();
    await expect.poll(() => run.status.some((line) => line.level === "warning")).toBe(true);
    await release();
    const { outcome, output } = await run.done;
    await bed.faults.up();
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
    expect(output.toString()).toBe("on\noff\n");
  });

  test("an API server that is down and back, and then the pod is deleted", async () => {
    const run = startRun(bed, {
      script: `process.on("SIGTERM", () => process.exit(143)); console.log("one"); setInterval(() => {}, 1000)`,
    });
    await run.saw("one\n");
    await bed.faults.down();
    await expect.poll(() => run.status.some((line) => line.level === "warning")).toBe(true);
    await bed.faults.up();
    await bed.faults.deletePod(await run.pod());
    expect((await run.done).outcome).toMatchObject({ kind: "deleted", what: "pod" });
  });
});

describe("settle", () => {
  test.each(passing)("deleting the Job: %s", async (_, make) => {
    make(bed.faults, { verb: "delete", resource: "jobs" });
    const run = startRun(bed, { script: HELLO });
    await expectGood(run, "hello\n");
    await expect.poll(() => run.jobs()).toBe(0);
  });

  test("a Job that may not be deleted is a warning, the result stays", async () => {
    const fault = bed.faults.fail({ verb: "delete", resource: "jobs" }, { status: 403, times: 99 });
    const run = startRun(bed, { script: HELLO });
    await expectGood(run, "hello\n");
    fault.undo();
    await expect.poll(() => run.status.some((line) => line.text.includes("cleaning up failed"))).toBe(true);
  });
});
