import { randomUUID } from "node:crypto";
import { appendFile, stat, writeFile } from "node:fs/promises";
import { createEngine, createSettledJobs, type LockOwner } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { getJob } from "../../../packages/engine/src/kube/calls.ts";
import { type Connection, connect } from "../../../packages/engine/src/kube/connection.ts";
import { deleteByUid } from "../../../packages/engine/src/kube/testing/delete-job.ts";
import { runWatch } from "../../../packages/engine/src/kube/watch/run-watch.ts";
import { changeJobOwner } from "../../../packages/engine/src/kube/writes.ts";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { logRequests } from "./request-log.ts";
import { gatedScript, KEYS, keyed, lateEnd, type RunHandle, type RunOptions, startRun } from "./run.ts";

// The next run of a task starts when the end of the one before is proved, not when the cluster has noticed it. How fast that is, bench says.

let bed: Bed;
let connection: Connection;
beforeAll(async () => {
  bed = await startBed();
  connection = await connect({ kubeconfig: bed.kubeconfig });
});
afterEach(() => calm(bed));
afterAll(async () => {
  connection?.close();
  await bed.stop();
});

// Longer than any test may take: who waited for it would hang.
const LINGER = { lingerMs: 3_600_000 };
const exited = { kind: "exited", exitCode: 0 };
const metaOf = (run: RunHandle) => `${run.request.output.path}.meta`;
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** A run whose end record is there while its pod, and so its Job, goes on until the gate is opened; on a real cluster the pod just ends. */
async function endedWithLivePod(key: string, options: RunOptions = {}) {
  const runId = randomUUID();
  const gate = `${bed.data}/gate-${runId}`;
  const script = lateEnd(`${bed.data}/logs/${runId}.ndjson.meta`, gate);
  const run = startRun(bed, keyed(key, { engine: LINGER, ...options, script, runId }));
  expect((await run.done).outcome).toMatchObject(exited);
  // On a busy machine the runner may have ended before it could be halted.
  const seen = () => expect.poll(() => exists(`${gate}-halted`), { timeout: 2000 }).toBe(true);
  const halted =
    !onKube &&
    (await seen().then(
      () => true,
      () => false,
    ));
  return { run, halted, open: () => writeFile(gate, "") };
}

/** What a host says whose record of the Job's run is complete. */
function onRecord() {
  const asked: LockOwner[] = [];
  const onLockConflict = async (owner: LockOwner) => {
    asked.push(owner);
    return owner.ended ? ({ kind: "remove", why: "its end is on record" } as const) : ({ kind: "wait" } as const);
  };
  return { asked, onLockConflict };
}

test("on the same server: the Job that lingers is deleted by one request, and none is answered with a conflict", async () => {
  const server = createEngine({ ...LINGER, settled: createSettledJobs() });
  const key = randomUUID();
  const first = startRun(bed, keyed(key, { script: `console.log("x")`, server }));
  expect((await first.done).outcome).toMatchObject(exited);
  expect(await exists(metaOf(first))).toBe(true);
  const requests = logRequests(bed.kubeconfig);
  const second = startRun(bed, keyed(key, { script: `console.log("y")`, server }));
  expect((await second.done).output.toString()).toBe("y\n");
  requests.stop();
  // A delete is answered with a conflict when the Job's status changes at that moment; only then the Job may be asked for.
  const { "GET events": _, "GET jobs": looks = 0, ...accepted } = requests.accepted();
  const conflicts = (requests.begun()["DELETE jobs"] ?? 0) - 1;
  if (requests.broken() === 0) expect(accepted).toEqual({ "POST jobs": 1, "POST secrets": 1, "DELETE jobs": 1 });
  if (requests.broken() === 0) expect(looks).toBeLessThanOrEqual(conflicts);
  await expect.poll(() => exists(metaOf(first))).toBe(false);
});

test("with another adapter instance of the same process: it knows the Job as well", async () => {
  const key = randomUUID();
  const first = startRun(bed, keyed(key, { script: `console.log("x")`, server: createEngine(LINGER) }));
  expect((await first.done).outcome).toMatchObject(exited);
  const adopting = { server: createEngine(LINGER), onLockConflict: async () => ({ kind: "adopt" }) as const };
  const second = await startRun(bed, keyed(key, { script: `console.log("y")`, ...adopting })).done;
  expect(second.output.toString()).toBe("y\n");
});

test("a run that waits already goes on when the result of the one before was given", async () => {
  const server = createEngine({ ...LINGER, settled: createSettledJobs() });
  const key = randomUUID();
  const { script, release } = gatedScript(bed);
  const first = startRun(bed, keyed(key, { script, server }));
  await first.saw("on\n");
  const second = startRun(bed, keyed(key, { script: `console.log("y")`, server }));
  await expect.poll(() => second.status.some(({ text }) => text.startsWith("waiting for Job"))).toBe(true);
  await release();
  expect((await second.done).output.toString()).toBe("y\n");
});

test("the same server, the Job adopted unseen by another: it is not deleted", async () => {
  const server = createEngine({ ...LINGER, settled: createSettledJobs() });
  const key = randomUUID();
  const first = startRun(bed, keyed(key, { script: `console.log("x")`, server }));
  const { jobName, jobUid } = (await first.done).outcome.evidence;
  const uid = jobUid ?? "";
  const fault = bed.faults.silenceWatches();
  const change = { uid, key: KEYS.runId, from: first.request.runId, to: "thief", label: "thief" };
  expect(
    await changeJobOwner(connection, bed.namespace, jobName, { ...change, annotations: { [KEYS.adoptedFrom]: change.from } }),
  ).not.toBeNull();
  const second = startRun(bed, keyed(key, { script: `console.log("y")`, server }));
  await expect.poll(() => first.status.at(-1)?.text).toContain("taken over by run thief");
  await expect.poll(() => second.status.some(({ text }) => text.startsWith("waiting for Job"))).toBe(true);
  expect(await getJob(connection, bed.namespace, jobName)).toMatchObject({ uid, deletedAt: null });
  // Whoever adopted it reads its files.
  expect(await exists(metaOf(first))).toBe(true);
  fault.undo();
  bed.faults.cutWatches();
  expect(await deleteByUid(connection, bed.namespace, jobName, { uid, propagation: "Background" })).toBe("deleted");
  expect((await second.done).output.toString()).toBe("y\n");
});

test("on another server: the signed end record frees the lock while the pod has not ended", async () => {
  const key = randomUUID();
  const first = await endedWithLivePod(key);
  const { asked, onLockConflict } = onRecord();
  const requests = logRequests(bed.kubeconfig);
  const second = await startRun(
    bed,
    keyed(key, { script: `console.log("y")`, onLockConflict, engine: { timeouts: { admission: 60_000 } } }),
  ).done;
  requests.stop();
  await first.open();
  expect(second.outcome).toMatchObject(exited);
  // The record is read when it has turned out that the run would have to wait.
  expect(asked[0]?.ended).toBe(asked[0]?.finished);
  expect(asked.at(-1)).toMatchObject({ ended: true, ...(first.halted ? { finished: false } : {}) });
  const { "POST jobs": creates, "POST secrets": secrets } = requests.accepted();
  if (requests.broken() === 0 && !onKube) expect({ creates, secrets }).toEqual({ creates: 1, secrets: 1 });
});

test.skipIf(onKube)("an end record that is not signed proves nothing: the Job is waited for", async () => {
  const key = randomUUID();
  const unsigned: RunOptions["change"] = (request) => ({ ...request, recordSecret: null });
  const { script, release } = gatedScript(bed);
  const first = startRun(bed, keyed(key, { script, change: unsigned }));
  await first.saw("on\n");
  const { asked, onLockConflict } = onRecord();
  const engine = { timeouts: { lockDecision: 100 } };
  const second = startRun(bed, keyed(key, { script: `console.log("y")`, onLockConflict, engine }));
  const end = { type: "end", exitCode: 0, signal: null, cause: "exited", bytes: 3, written: 3, at: new Date().toISOString() };
  await appendFile(metaOf(first), `${JSON.stringify(end)}\n`);
  await expect.poll(() => asked.length).toBeGreaterThan(3);
  expect(asked.some(({ ended }) => ended)).toBe(false);
  await release();
  expect((await second.done).outcome).toMatchObject(exited);
});

test.skipIf(onKube)("an end record that the agent forges, or copies from another run, proves nothing either", async () => {
  const key = randomUUID();
  const other = startRun(bed, keyed(randomUUID(), { script: `console.log("x")`, engine: LINGER }));
  await other.done;
  const { readFile } = await import("node:fs/promises");
  const signedByAnother = await readFile(metaOf(other), "utf8");
  const { script, release } = gatedScript(bed);
  const first = startRun(bed, keyed(key, { script }));
  await first.saw("on\n");
  await appendFile(metaOf(first), `{"type":"end","exitCode":0}\n${signedByAnother}`);
  const { asked, onLockConflict } = onRecord();
  const second = startRun(bed, keyed(key, { script: `console.log("y")`, onLockConflict, engine: { timeouts: { lockDecision: 100 } } }));
  await expect.poll(() => asked.length).toBeGreaterThan(3);
  expect(asked.some(({ ended }) => ended)).toBe(false);
  await release();
  expect((await second.done).outcome).toMatchObject(exited);
});

test.skipIf(onKube)("an agent that fills its records with lines: its end is still found", async () => {
  const key = randomUUID();
  const { script, release } = gatedScript(bed);
  const detach = new AbortController();
  const first = startRun(bed, keyed(key, { script, detach: detach.signal }));
  await first.saw("on\n");
  detach.abort(new Error("its server goes away"));
  await first.done;
  await appendFile(metaOf(first), Buffer.alloc(2_000_000, "\n"));
  const { asked, onLockConflict } = onRecord();
  const second = startRun(bed, keyed(key, { script: `console.log("y")`, onLockConflict, engine: { timeouts: { lockDecision: 100 } } }));
  await expect.poll(() => asked.length).toBeGreaterThan(3);
  await release();
  expect((await second.done).outcome).toMatchObject(exited);
  expect(asked.at(-1)?.ended).toBe(true);
});

for (const where of ["on the same server", "on another server"])
  test(`${where}: a Job that is retained leaves the next name to the next run when it has finished, whatever its records say`, async () => {
    const key = randomUUID();
    const settled = where === "on the same server" ? createSettledJobs() : undefined;
    const engine = { timeouts: { admission: 60_000 }, ...(settled === undefined ? {} : { settled }) };
    const retained: RunOptions["change"] = (request) => ({ ...request, retain: true });
    const first = await endedWithLivePod(key, { change: retained, engine });
    const name = await first.run.job();
    const second = startRun(bed, keyed(key, { script: `console.log("y")`, engine, ...onRecord() }));
    if (first.halted) await expect.poll(() => second.status.some(({ text }) => text.startsWith("waiting for Job"))).toBe(true);
    await first.open();
    expect((await second.done).outcome).toMatchObject({ ...exited, evidence: { jobName: `${name}-2` } });
    expect(await first.run.jobs()).toBe(1);
    await bed.faults.deleteJob(name, "Foreground");
  });

test("a clean-up some time after the result is one request, and none where the Job is gone already", async () => {
  const requests = logRequests(bed.kubeconfig);
  const first = startRun(bed, keyed(randomUUID(), { script: `console.log("x")`, engine: { lingerMs: 1500 } }));
  await first.done;
  await expect.poll(() => exists(metaOf(first))).toBe(false);
  if (requests.broken() === 0) expect(requests.accepted()["DELETE jobs"]).toBe(1);
  const settled = createSettledJobs();
  const second = startRun(bed, keyed(randomUUID(), { script: `console.log("x")`, engine: { ...LINGER, settled } }));
  const { jobName, jobUid } = (await second.done).outcome.evidence;
  await deleteByUid(connection, bed.namespace, jobName, { uid: jobUid ?? "", propagation: "Background" });
  const watch = runWatch(connection, bed.namespace, second.request.selector);
  await expect.poll(() => watch.jobNamed(jobName)).toBeNull();
  await settled.jobs.get(jobUid ?? "")?.free();
  await expect.poll(() => exists(metaOf(second))).toBe(false);
  requests.stop();
  // That of the test itself.
  if (requests.broken() === 0) expect(requests.accepted()["DELETE jobs"]).toBe(2);
});
