import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, keyed, type RunOptions, startRun } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

// A run that is let go: its Job goes on, and whoever adopts it has everything from the first byte.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const letGo = new Error("the server is about to stop");

test("a live run is let go at once, and the next one takes it over with all its output", async () => {
  const detach = new AbortController();
  const { script, release } = gatedScript(bed);
  const first = startRun(bed, keyed("left", { script, detach: detach.signal }));
  await first.saw("on\n");
  detach.abort(letGo);
  // Its CLI goes on for as long as it is not released.
  expect((await first.done).outcome).toMatchObject({ kind: "detached", reason: letGo.message, evidence: { jobUid: expect.any(String) } });
  expect(await first.jobs()).toBe(1);

  const second = startRun(bed, keyed("left", { script: `console.log("never")`, onLockConflict: async () => ({ kind: "adopt" }) }));
  await second.saw("on\n");
  await release();
  const { outcome, output } = await second.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect(output.toString()).toBe("on\noff\n");
});

test("who waits for a key, or has not begun, makes nothing", async () => {
  const detach = new AbortController();
  const first = startRun(bed, keyed("kept", { script: `console.log("on"); setInterval(() => {}, 1000)` }));
  await first.saw("on\n");
  const waiting = startRun(bed, keyed("kept", { script: "", detach: detach.signal }));
  await expect.poll(() => waiting.status.some(({ text }) => text.startsWith("waiting for Job"))).toBe(true);
  detach.abort(letGo);
  expect((await waiting.done).outcome).toMatchObject({ kind: "detached", evidence: { jobUid: null } });
  const late = startRun(bed, { script: "", detach: detach.signal });
  expect((await late.done).outcome).toMatchObject({ kind: "detached", evidence: { jobUid: null } });
  expect([await waiting.jobs(), await late.jobs(), await first.jobs()]).toEqual([0, 0, 1]);
  const files = await readdir(`${bed.data}/logs`);
  expect(files.filter((name) => [waiting, late].some(({ request }) => name.startsWith(request.runId)))).toEqual([]);
  first.cancel();
  await first.done;
});

test("a run that is being cancelled is not let go: it is ended", async () => {
  const detach = new AbortController();
  const run = startRun(bed, {
    script: `process.on("SIGTERM", () => setTimeout(() => process.exit(0), 500)); console.log("on"); setInterval(() => {}, 1000)`,
    detach: detach.signal,
  });
  await run.saw("on\n");
  run.cancel();
  detach.abort(letGo);
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
  await expect.poll(() => run.jobs()).toBe(0);
});

/** As far as the run is concerned hours pass, so that whatever does not hear the request ends in some other way. */
async function letGoWhile(options: RunOptions, begun: () => boolean) {
  const detach = new AbortController();
  const clock = createTestClock();
  const run = startRun(bed, { ...options, engine: { clock }, detach: detach.signal });
  await expect.poll(begun, { interval: 20 }).toBe(true);
  detach.abort(letGo);
  return (await clock.hurry(run.done)).outcome;
}

test("a request to let go is heard while a create is tried again", async () => {
  const fault = bed.faults.fail({ verb: "create", resource: "jobs" }, { status: 503, times: 9999 });
  const outcome = await letGoWhile({ script: "" }, () => fault.hits > 3);
  expect(outcome).toMatchObject({ kind: "detached", reason: letGo.message, evidence: { jobUid: null } });
});

test("a request to let go is heard while a new volume is given to the pod's user", async () => {
  const nowhere = await bed.faults.unschedulable();
  const status: string[] = [];
  const create = { storageClass: await bed.addStorageClass(1), capacity: "1Gi", labels: {} };
  const claims = [{ claimName: `left-${randomUUID()}`, mountPath: "/agent/state", create, setOwnership: false }];
  const change: RunOptions["change"] = (request) => ({ ...request, volumes: { ...request.volumes, claims } });
  const giving = () => status.some((text) => text.startsWith("giving the volume of claim"));
  const outcome = await letGoWhile({ script: "", change, onStatus: ({ text }) => void status.push(text) }, giving);
  expect(outcome).toMatchObject({ kind: "detached", reason: letGo.message, evidence: { jobUid: null } });
  await expect.poll(async () => (await bed.list("jobs")).filter(({ metadata }) => metadata.name.includes("hand-over"))).toEqual([]);
  await nowhere.undo();
});
