import { randomUUID } from "node:crypto";
import type { LockDecision, LockOwner } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { getJob } from "../../../packages/engine/src/kube/calls.ts";
import { type Connection, connect } from "../../../packages/engine/src/kube/connection.ts";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, KEYS, keyed, type RunOptions, startRun } from "./run.ts";
import { ServerProcess } from "./server-process.ts";
import { createTestClock } from "./test-clock.ts";

// What must not be taken over, changed or removed is left as it is.

let bed: Bed;
let connection: Connection;
beforeAll(async () => {
  bed = await startBed();
  connection = await connect({ kubeconfig: bed.kubeconfig });
});
afterEach(() => calm(bed));
afterAll(async () => {
  connection.close();
  await bed.stop();
});

const ENDLESS = `console.log("on"); setInterval(() => {}, 1000)`;
const OWN = `console.log("own prompt")`;
const deciding = (key: string, decide: (owner: LockOwner) => LockDecision, options: RunOptions = {}) =>
  startRun(
    bed,
    keyed(key, { script: OWN, onLockConflict: async (owner) => decide(owner), engine: { timeouts: { lockDecision: 500 } }, ...options }),
  );

async function lockOwnerOf(key: string, options: RunOptions = {}) {
  const owner = startRun(bed, keyed(key, { script: ENDLESS, ...options }));
  await owner.saw("on\n");
  const name = await owner.job();
  const job = () => getJob(connection, bed.namespace, name);
  const { uid } = (await job())!;
  const end = async () => {
    owner.cancel();
    await owner.done;
  };
  return { owner, name, job, uid, end };
}

test("blocked: the caller's code and message, and the Job is as it was", async () => {
  const { owner, job, uid, end } = await lockOwnerOf("blocked");
  const { outcome } = await deciding("blocked", () => ({ kind: "blocked", code: "not_this_one", message: "because" })).done;
  expect(outcome).toMatchObject({ kind: "blocked", code: "not_this_one", message: "because", byRun: owner.request.runId });
  expect(await job()).toMatchObject({ uid, deletedAt: null, annotations: { [KEYS.runId]: owner.request.runId } });
  await end();
});

test("a Job without the runner's mark is waited for, whatever the caller says", async () => {
  const { owner, job, uid, end } = await lockOwnerOf("older", {
    // Its deadline, which is waited for, is near.
    change: (request) => ({
      ...request,
      keys: { ...request.keys, runner: "suite.test/other" },
      limits: { ...request.limits, maxRunSec: 1 },
    }),
  });
  for (const kind of ["adopt", "remove"] as const) {
    const clock = createTestClock();
    const { outcome } = await clock.hurry(deciding("older", () => ({ kind, why: "asked" }), { engine: { clock } }).done);
    expect(outcome).toMatchObject({ kind: "blocked", message: expect.stringContaining("not started by this version") });
    expect(await job()).toMatchObject({ uid, deletedAt: null, annotations: { [KEYS.runId]: owner.request.runId } });
  }
  await end();
});

test("a Job whose output lies outside the volume is not taken over", async () => {
  const { owner, job, end } = await lockOwnerOf("outside", {
    change: (request) => ({
      ...request,
      keys: { ...request.keys, output: "suite.test/elsewhere" },
      annotations: { [KEYS.output]: `${request.output.root}/../etc/passwd` },
    }),
  });
  const { outcome } = await deciding("outside", () => ({ kind: "adopt" })).done;
  expect(outcome).toMatchObject({ kind: "blocked", message: expect.stringContaining("does not say where") });
  expect((await job())?.annotations[KEYS.runId]).toBe(owner.request.runId);
  await end();
});

test("wait may become adopt, and a caller that cannot tell is asked again", async () => {
  const { script, release } = gatedScript(bed);
  const { owner } = await lockOwnerOf("later", { script });
  let asked = 0;
  const run = deciding("later", () => {
    asked++;
    if (asked === 1) throw new Error("not reachable");
    return { kind: asked === 2 ? "wait" : "adopt" };
  });
  expect((await owner.done).outcome).toMatchObject({ kind: "superseded", byRun: run.request.runId });
  expect(asked).toBe(3);
  await release();
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("on\noff\n");
});

test("a Job that is over and on record is removed, not replayed", async () => {
  const fault = bed.faults.fail({ verb: "delete", resource: "jobs" }, { status: 403, times: 99 });
  const first = startRun(bed, keyed("stale", { script: `console.log("old result")` }));
  expect((await first.done).outcome).toMatchObject({ kind: "exited" });
  fault.undo();
  const finished: boolean[] = [];
  const run = deciding("stale", (owner) => {
    finished.push(owner.finished);
    return owner.finished ? { kind: "remove", why: "its end is on record" } : { kind: "wait" };
  });
  const { output } = await run.done;
  expect(output.toString()).toBe("own prompt\n");
  expect(finished.at(-1)).toBe(true);
});

test("a Job whose server died before its Secret was made is removed after a while, and the run starts anew", async () => {
  const fault = bed.faults.hang({ verb: "create", resource: "secrets" });
  const dead = { runId: randomUUID(), key: randomUUID(), script: ENDLESS, continues: [] };
  const server = new ServerProcess(bed, [dead]);
  await expect.poll(async () => (await bed.list("jobs")).some(({ metadata }) => metadata.labels?.[KEYS.runId] === dead.runId)).toBe(true);
  await server.kill();
  fault.undo();
  const run = deciding(dead.key, () => ({ kind: "adopt" }), { engine: { timeouts: { secretless: 3000 } } });
  const { outcome, output, status } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("own prompt\n");
  expect(status.some(({ text }) => text.includes("never got its Secret"))).toBe(true);
});

test("a server that has its result already does not clean up under who took the Job over since", async () => {
  const first = startRun(bed, keyed("lingers", { script: `console.log("done")`, engine: { lingerMs: 3000 } }));
  expect((await first.done).outcome).toMatchObject({ kind: "exited" });
  const second = deciding("lingers", () => ({ kind: "adopt" }), { engine: { lingerMs: 8000 } });
  const { output, outcome } = await second.done;
  expect(output.toString()).toBe("done\n");
  await expect.poll(() => first.status.at(-1)?.text).toContain(`taken over by run ${second.request.runId}`);
  expect(await getJob(connection, bed.namespace, outcome.evidence.jobName)).toMatchObject({
    uid: outcome.evidence.jobUid,
    deletedAt: null,
  });
  await expect.poll(() => getJob(connection, bed.namespace, outcome.evidence.jobName)).toBeNull();
});
