import { randomUUID } from "node:crypto";
import type { KubeObject } from "@paperclip-k8s/pocket";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { logRequests } from "./request-log.ts";
import { KEYS, keyed, startRun } from "./run.ts";
import { ServerProcess } from "./server-process.ts";

// A server comes back to many live runs, and takes them all up at once. How they are paced is pace.test.ts's, how fast it goes is bench's.

const RUNS = process.env.LONG ? 300 : 60;

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

test.skipIf(onKube)(`${RUNS} runs are taken up again, and nothing is asked twice`, async () => {
  // Pods that wait for a node are as good to adopt, and cost no process.
  await bed.faults.unschedulable();
  const lost = Array.from({ length: RUNS }, () => ({ runId: randomUUID(), key: randomUUID(), script: "", continues: [] }));
  const server = new ServerProcess(bed, lost);
  await expect.poll(async () => (await bed.list("secrets")).length).toBe(RUNS);
  await server.kill();
  const requests = logRequests(bed.kubeconfig);
  const before = bed.connections;
  const runs = lost.map(({ key }) => startRun(bed, keyed(key, { script: "", onLockConflict: async () => ({ kind: "adopt" }) })));
  const adopted = () => runs.filter(({ status }) => status.some(({ text }) => text.startsWith("adopted Job"))).length;
  await expect.poll(adopted).toBe(RUNS);
  const labelled = async () => (await bed.list("pods")).filter((pod) => runs.some(({ request }) => isOf(pod, request.runId))).length;
  await expect.poll(labelled).toBe(RUNS);
  requests.stop();
  // Only a request that broke off, as on a machine that is far too busy, is made again, and may be followed by a look.
  const again = requests.broken();
  const { "GET jobs": jobs = 0, "GET pods": pods = 0, "POST jobs": creates = 0, ...patches } = requests.begun();
  // Two lists tell what is there.
  expect(pods).toBeLessThanOrEqual(1 + again);
  expect(jobs).toBeLessThanOrEqual(1 + again);
  expect(creates).toBe(0);
  for (const what of ["PATCH jobs", "PATCH secrets", "PATCH pods"]) {
    expect(patches[what], what).toBeGreaterThanOrEqual(RUNS);
    expect(patches[what], what).toBeLessThanOrEqual(RUNS + again);
  }
  expect(bed.connections - before).toBeLessThanOrEqual(34 + again);
});

const isOf = ({ metadata }: KubeObject, runId: string): boolean => metadata.labels?.[KEYS.runId] === runId;
