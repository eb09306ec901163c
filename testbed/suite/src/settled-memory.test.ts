import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createEngine, createSettledJobs, type Engine, type RunRequest } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { startRun } from "./run.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

test.each([0, 100])("a settled Job is remembered, and nothing of its run: cleaned up %i ms after the result", async (lingerMs) => {
  const settled = createSettledJobs();
  const engine = createEngine({ settled, lingerMs });
  let held: WeakRef<RunRequest> | undefined;
  // The engine gets a request of its own, which nothing of the test holds.
  const run: Engine["run"] = (request, cluster, io) => {
    const own = { ...request };
    held = new WeakRef(own);
    return engine.run(own, cluster, io);
  };
  const { done } = startRun(bed, { script: `console.log("x")`, server: { ...engine, run } });
  const { jobUid } = (await done).outcome.evidence;
  await expect
    .poll(() => {
      collectGarbage();
      return held?.deref() === undefined;
    })
    .toBe(true);
  expect([...settled.jobs.keys()]).toEqual([jobUid]);
});
