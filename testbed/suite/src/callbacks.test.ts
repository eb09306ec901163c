import { createEngine } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, startRun } from "./run.ts";

// What a caller's callbacks throw is its own run's: neither another run of the same server nor the process ends by it.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const fail = (what: string) => () => {
  throw new Error(`of ${what}`);
};

test("a run whose callbacks throw ends for itself, and the run beside it with all its output", async () => {
  const server = createEngine({ timeouts: { missing: 1000, drain: 500 } });
  const { script, release } = gatedScript(bed);
  const beside = startRun(bed, { script, server });
  await beside.saw("on\n");
  const failing = startRun(bed, {
    script: `console.error("on stderr"); console.log("on stdout")`,
    server,
    onOutput: fail("onOutput"),
    onStatus: fail("onStatus"),
  });
  const { outcome } = await failing.done;
  // What was not taken is not complete, so that this is no success.
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: false, forged: false } } });
  await release();
  expect((await beside.done).outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect(beside.output().toString()).toBe("on\noff\n");
});
