import { readdir } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, keyed, startRun } from "./run.ts";

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

  const second = startRun(bed, keyed("left", { script: `console.log("never")`, judge: async () => ({ kind: "adopt" }) }));
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
