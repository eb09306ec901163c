import { randomUUID } from "node:crypto";
import { createEngine, createSettledJobs } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { keyed, type RunOptions, startRun } from "./run.ts";
import { ServerProcess } from "./server-process.ts";

// Pods that do not end by themselves, and Jobs that cannot begin: neither keeps its task from going on.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

describe.skipIf(onKube)("a container beside the run's own that never ends, as a mesh adds one", () => {
  test.each([
    ["an ordinary Job", {}],
    ["a Job that is kept for debugging", { retain: true }],
  ])("%s: the next turn of the task begins at once", async (_, change) => {
    const fault = bed.pocket!.faults.podsStay();
    const key = randomUUID();
    const server = createEngine({ settled: createSettledJobs(), lingerMs: 3_600_000 });
    const turn = (script: string): RunOptions => keyed(key, { script, server, change: (request) => ({ ...request, ...change }) });
    expect((await startRun(bed, turn(`console.log("first")`)).done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    const next = await startRun(bed, turn(`console.log("second")`)).done;
    expect(next.outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    fault.undo();
  });
});

test("a Job whose server died before its Secret was made is removed by whoever waits for it, and that is said", async () => {
  const key = randomUUID();
  const fault = bed.faults.hang({ verb: "create", resource: "secrets" }, { times: 99 });
  const dead = new ServerProcess(bed, [{ runId: randomUUID(), key, script: `console.log("never")`, continues: [] }]);
  await expect.poll(() => fault.hits).toBeGreaterThan(0);
  await dead.kill();
  fault.undo();
  const next = startRun(bed, keyed(key, { script: `console.log("next")`, engine: { timeouts: { secretless: 2000 } } }));
  const { output, status } = await next.done;
  expect(output.toString()).toBe("next\n");
  expect(status.map(({ text }) => text).join("\n")).toMatch(/removing Job .* it never got its Secret, so it cannot start/);
});
