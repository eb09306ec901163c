import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { keyed, startRun } from "./run.ts";
import { ServerProcess } from "./server-process.ts";

// A server comes back to hundreds of live runs, and takes them all up at once.

const RUNS = 300;
const BURST = 100;
const PER_SECOND = 250;

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed), 60_000);
afterAll(() => bed.stop());

/** When each request of this process was begun, in ms. */
function noteRequests() {
  const begun: { readonly at: number; readonly what: string }[] = [];
  const note = (message: unknown) => {
    const { method, path } = (message as { readonly request: ClientRequest }).request;
    const watch = path.includes("watch=true");
    if (!watch) begun.push({ at: performance.now(), what: `${method} ${/\/(jobs|pods|secrets|events)\b/.exec(path)?.[1] ?? "others"}` });
  };
  subscribe("http.client.request.start", note);
  return { begun, stop: () => unsubscribe("http.client.request.start", note) };
}

function countOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** The most that fall into one second. */
function densest(times: readonly number[]): number {
  let from = 0;
  return Math.max(
    ...times.map((at, place) => {
      while ((times[from] ?? at) < at - 1000) from++;
      return place - from + 1;
    }),
  );
}

test.skipIf(onKube)(
  `${RUNS} runs are taken up again: requests are paced, and none is made twice`,
  async () => {
    // Pods that wait for a node are as good to adopt, and cost no process.
    await bed.faults.unschedulable();
    const lost = Array.from({ length: RUNS }, () => ({ runId: randomUUID(), key: randomUUID(), script: "", continues: [] }));
    const server = new ServerProcess(bed, lost);
    await expect.poll(async () => (await bed.list("secrets")).length, { timeout: 120_000 }).toBe(RUNS);
    await server.kill();
    const requests = noteRequests();
    const before = { at: performance.now(), connections: bed.connections };
    const runs = lost.map(({ key }) => startRun(bed, keyed(key, { script: "", judge: async () => ({ kind: "adopt" }) })));
    const adopted = () => runs.filter(({ status }) => status.some(({ text }) => text.startsWith("adopted Job"))).length;
    await expect.poll(adopted, { timeout: 120_000 }).toBe(RUNS);
    const flowing = performance.now() - before.at;
    const counted = () => countOf(requests.begun.map(({ what }) => what));
    await expect.poll(() => counted()["PATCH pods"], { timeout: 120_000 }).toBe(RUNS);
    requests.stop();
    const most = densest(requests.begun.map(({ at }) => at));
    console.log(
      `${RUNS} runs adopted after ${Math.round(flowing)} ms; ${requests.begun.length} requests, at most ${most} in a second`,
      counted(),
    );
    expect(most).toBeLessThanOrEqual(BURST + PER_SECOND + 10);
    // Two lists tell what is there.
    const { "GET jobs": jobs, "GET pods": pods, "POST jobs": creates = 0 } = counted();
    expect({ jobs, pods, creates }).toEqual({ jobs: 1, pods: 1, creates: 0 });
    expect(counted()).toMatchObject({ "PATCH jobs": RUNS, "PATCH secrets": RUNS, "PATCH pods": RUNS });
    expect(bed.connections - before.connections).toBeLessThanOrEqual(34);
  },
  300_000,
);
