import { createRunClock } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { startRun } from "./run.ts";

// What a run costs the API server.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

/** A clock that runs fast must not make a slow pod look like one that never starts. */
const patient = { schedule: 1_200_000, start: 1_200_000, noPod: 1_200_000, missingVolume: 1_200_000, containerConfig: 1_200_000 };

/** The first run of a namespace asks what its account may do. */
const apart = (requests: readonly Bed["requests"][number][]) => {
  const isReview = ({ resource }: Bed["requests"][number]) => resource === "selfsubjectaccessreviews";
  return [requests.filter(isReview), requests.filter((request) => !isReview(request))] as const;
};

test("a quiet run of ten minutes makes 3 requests besides the two list-watches, and says that it is alive", async () => {
  const before = bed.requests.length;
  const speed = onKube ? 20 : 150;
  const script = `console.log("on"); setTimeout(() => console.log("off"), ${600_000 / speed})`;
  const run = startRun(bed, {
    script,
    engine: { clock: createRunClock(speed), policy: { ...patient, events: 300_000 } },
  });
  const { outcome } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(outcome.evidence.timings.settled).toBeGreaterThan(600_000);
  const [reviews, made] = apart(bed.requests.slice(before).filter((request) => !request.watch && request.verb !== "list"));
  expect(reviews).toHaveLength(3);
  expect(made.map((request) => `${request.verb} ${request.resource}`)).toEqual(["create jobs", "create secrets", "delete jobs"]);
  const lists = bed.requests.slice(before).filter((request) => request.verb === "list");
  expect(lists.map((request) => request.resource).sort()).toEqual(["jobs", "pods"]);
  const alive = run.status.filter((line) => /no output for \d+ s/.test(line.text));
  expect(alive.length).toBeGreaterThanOrEqual(30);
  expect(alive.length).toBeLessThanOrEqual((outcome.evidence.timings.settled ?? 0) / 15_000);
  expect(alive[0]?.text).toMatch(/^Job suite-/);
});

test("twenty runs share two watches and a few connections", async () => {
  const before = { requests: bed.requests.length, connections: bed.connections };
  const runs = Array.from({ length: 20 }, () => startRun(bed, { script: `console.log("x")` }));
  for (const run of runs) expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  // A pod that has not started after 3 s is asked about once: on one small node, twenty at once take longer.
  const made = bed.requests.slice(before.requests).filter(({ resource }) => resource !== "events");
  expect(made.filter((request) => !request.watch && request.verb !== "list")).toHaveLength(60);
  expect(made.filter((request) => request.watch || request.verb === "list").length).toBeLessThanOrEqual(4);
  expect(bed.connections - before.connections).toBeLessThanOrEqual(34);
}, 120_000);
