import { createRunClock } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { startRun } from "./run.ts";

// What a run costs the API server.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

test("a quiet run of ten minutes makes 3 requests besides the two list-watches, and says that it is alive", async () => {
  const before = bed.cluster.requests.length;
  const speed = 150;
  const script = `console.log("on"); setTimeout(() => console.log("off"), ${600_000 / speed})`;
  const run = startRun(bed, { script, engine: { clock: createRunClock(speed), policy: { events: 60_000 } } });
  const { outcome } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(outcome.evidence.timings.settled).toBeGreaterThan(600_000);
  const made = bed.cluster.requests.slice(before).filter((request) => !request.watch && request.verb !== "list");
  expect(made.map((request) => `${request.verb} ${request.resource}`)).toEqual(["create jobs", "create secrets", "delete jobs"]);
  const lists = bed.cluster.requests.slice(before).filter((request) => request.verb === "list");
  expect(lists.map((request) => request.resource).sort()).toEqual(["jobs", "pods"]);
  const alive = run.status.filter((line) => /no output for \d+ s/.test(line.text));
  expect(alive.length).toBeGreaterThanOrEqual(30);
  expect(alive.length).toBeLessThanOrEqual(40);
  expect(alive[0]?.text).toMatch(/^Job suite-/);
});

test("twenty runs share two watches and a few connections", async () => {
  const before = { requests: bed.cluster.requests.length, connections: bed.cluster.connections };
  const runs = Array.from({ length: 20 }, () => startRun(bed, { script: `console.log("x")` }));
  for (const run of runs) expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  const made = bed.cluster.requests.slice(before.requests);
  expect(made.filter((request) => !request.watch && request.verb !== "list")).toHaveLength(60);
  expect(made.filter((request) => request.watch || request.verb === "list").length).toBeLessThanOrEqual(4);
  expect(bed.cluster.connections - before.connections).toBeLessThanOrEqual(34);
}, 60_000);
