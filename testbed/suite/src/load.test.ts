import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { logRequests } from "./request-log.ts";
import { gatedScript, startRun } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

// What a run costs the API server.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

/** The first run of a namespace asks what its account may do. */
const apart = (requests: readonly Bed["requests"][number][]) => {
  const isReview = ({ resource }: Bed["requests"][number]) => resource === "selfsubjectaccessreviews";
  return [requests.filter(isReview), requests.filter((request) => !isReview(request))] as const;
};

test("a quiet run of ten minutes makes 3 requests besides the two list-watches, and says that it is alive", async () => {
  const before = bed.requests.length;
  const clock = createTestClock();
  const { script, release } = gatedScript(bed);
  // A pod that takes its time to start would be asked about.
  const run = startRun(bed, { script, engine: { clock, timeouts: { events: 36e5 } } });
  await run.saw("on\n");
  const aliveBefore = run.status.length;
  await clock.advance(600_000);
  await release();
  const { outcome } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(outcome.evidence.timings.settled).toBeGreaterThan(600_000);
  const [reviews, made] = apart(bed.requests.slice(before).filter((request) => !request.watch && request.verb !== "list"));
  expect(reviews).toHaveLength(3);
  expect(made.map((request) => `${request.verb} ${request.resource}`)).toEqual(["create jobs", "create secrets", "delete jobs"]);
  const lists = bed.requests.slice(before).filter((request) => request.verb === "list");
  expect(lists.map((request) => request.resource).sort()).toEqual(["jobs", "pods"]);
  const alive = run.status.slice(aliveBefore).filter((line) => /no output for \d+ (s|min)$/.test(line.text));
  // After 30 s, after 60 s more, then every 80 s, each with the moment until it is looked at.
  expect(alive.length).toBeGreaterThanOrEqual(7);
  expect(alive.length).toBeLessThanOrEqual(8);
  expect(alive[0]?.text).toMatch(/^no output for 3\d s$/);
});

test("twenty runs share two watches and a few connections", async () => {
  const before = { requests: bed.requests.length, connections: bed.connections };
  const log = logRequests(bed.kubeconfig);
  const runs = Array.from({ length: 20 }, () => startRun(bed, { script: `console.log("x")` }));
  for (const run of runs) expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  log.stop();
  // Only a request that broke off, as on a machine that is far too busy, is made again, and may be followed by a look.
  const again = 2 * log.broken();
  // A pod that has not started after 3 s is asked about once: on one small node, twenty at once take longer.
  const made = bed.requests.slice(before.requests).filter(({ resource }) => resource !== "events");
  const single = made.filter((request) => !request.watch && request.verb !== "list").length;
  expect(single).toBeGreaterThanOrEqual(60);
  expect(single).toBeLessThanOrEqual(60 + again);
  expect(made.filter((request) => request.watch || request.verb === "list").length).toBeLessThanOrEqual(4 + again);
  expect(bed.connections - before.connections).toBeLessThanOrEqual(34 + again);
});
