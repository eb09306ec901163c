import { type Clock, createClock } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, startRun } from "./run.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

/** The system's clock, and how often it is asked to call back. */
function watchedClock(): { readonly clock: Clock; readonly intervals: number[] } {
  const intervals: number[] = [];
  const own = createClock();
  const every: Clock["every"] = (ms, callback) => {
    intervals.push(ms);
    return own.every(ms, callback);
  };
  return { clock: { ...own, every }, intervals };
}

test("a run is looked at often while it starts and ends, and seldom while it only goes on", async () => {
  const { clock, intervals } = watchedClock();
  const { script, release } = gatedScript(bed);
  const run = startRun(bed, { script, engine: { clock } });
  await run.saw("on\n");
  // A pod that is slow to start may change it once more.
  await expect.poll(() => intervals.slice(0, 2)).toEqual([250, 2500]);
  await release();
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});
