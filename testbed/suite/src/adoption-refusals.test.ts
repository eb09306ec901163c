import type { Holder, HolderVerdict } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deleteJob, getJob } from "../../../packages/engine/src/cluster/calls.ts";
import { type Connection, connect } from "../../../packages/engine/src/cluster/connection.ts";
import { claimJob, labelPod } from "../../../packages/engine/src/cluster/patches.ts";
import { type Bed, startBed } from "./bed.ts";
import { KEYS, type RunOptions, startRun } from "./run.ts";
import { ServerProcess } from "./server-process.ts";

// What must not be taken over, changed or removed is left as it is.

let bed: Bed;
let connection: Connection;
beforeAll(async () => {
  bed = await startBed();
  connection = await connect({ kubeconfig: bed.kubeconfig });
});
afterAll(async () => {
  connection.close();
  await bed.stop();
});

const ENDLESS = `console.log("on"); setInterval(() => {}, 1000)`;
const OWN = `console.log("own prompt")`;
const keyed = (key: string, options: RunOptions = {}): RunOptions => ({
  ...options,
  change: (request) => ({
    ...(options.change ?? ((same) => same))(request),
    exclusive: key,
    name: { prefix: "suite-", parts: [key], identity: key },
  }),
});
const judged = (key: string, verdict: (holder: Holder) => HolderVerdict, options: RunOptions = {}) =>
  startRun(bed, keyed(key, { script: OWN, judge: async (holder) => verdict(holder), engine: { policy: { judge: 500 } }, ...options }));

async function holderOf(key: string, options: RunOptions = {}) {
  const holder = startRun(bed, keyed(key, { script: ENDLESS, ...options }));
  await holder.saw("on\n");
  const name = await holder.job();
  const job = () => getJob(connection, bed.namespace, name);
  const { uid } = (await job())!;
  const end = async () => {
    holder.cancel();
    await holder.done;
  };
  return { holder, name, job, uid, end };
}

test("a claim with another uid, or from another run, is refused and changes nothing", async () => {
  const { holder, name, job, uid, end } = await holderOf("swap");
  const claim = { uid, key: KEYS.runId, from: holder.request.runId, to: "thief", label: "thief", annotations: {} };
  expect(await claimJob(connection, bed.namespace, name, { ...claim, uid: "00000000-0000-0000-0000-000000000000" })).toBeNull();
  expect(await claimJob(connection, bed.namespace, name, { ...claim, from: "somebody-else" })).toBeNull();
  expect(await claimJob(connection, bed.namespace, "suite-none", claim)).toBeNull();
  expect((await job())?.annotations[KEYS.runId]).toBe(holder.request.runId);
  expect((await job())?.labels[KEYS.runId]).toBe(holder.request.runId);
  await end();
});

test("a delete with another uid, and a label for another pod of the name, are refused", async () => {
  const { holder, name, job, uid, end } = await holderOf("delete");
  const wrong = "00000000-0000-0000-0000-000000000000";
  expect(await deleteJob(connection, bed.namespace, name, { uid: wrong, propagation: "Foreground" })).toBe("replaced");
  expect(await job()).toMatchObject({ uid, deletedAt: null });
  const pod = await holder.pod();
  await expect(labelPod(connection, bed.namespace, { name: pod, uid: wrong }, { [KEYS.runId]: "thief" })).rejects.toThrow(/409|422/);
  expect(await holder.pod()).toBe(pod);
  await end();
});

test("blocked: the caller's code and message, and the Job is as it was", async () => {
  const { holder, job, uid, end } = await holderOf("blocked");
  const { outcome } = await judged("blocked", () => ({ kind: "blocked", code: "not_this_one", message: "because" })).done;
  expect(outcome).toMatchObject({ kind: "blocked", code: "not_this_one", message: "because", byRun: holder.request.runId });
  expect(await job()).toMatchObject({ uid, deletedAt: null, annotations: { [KEYS.runId]: holder.request.runId } });
  await end();
});

test("a Job without the runner's mark is waited for, whatever the caller says", async () => {
  const { holder, job, uid, end } = await holderOf("older", {
    change: (request) => ({ ...request, keys: { ...request.keys, runner: "suite.test/other" } }),
  });
  for (const kind of ["adopt", "remove"] as const) {
    const options = { engine: { policy: { judge: 500, admission: 3000 } } };
    const { outcome } = await judged("older", () => ({ kind, why: "asked" }), options).done;
    expect(outcome).toMatchObject({ kind: "blocked", message: expect.stringContaining("not started by this version") });
    expect(await job()).toMatchObject({ uid, deletedAt: null, annotations: { [KEYS.runId]: holder.request.runId } });
  }
  await end();
}, 60_000);

test("a Job whose output lies outside the volume is not taken over", async () => {
  const { holder, job, end } = await holderOf("outside", {
    change: (request) => ({
      ...request,
      keys: { ...request.keys, output: "suite.test/elsewhere" },
      annotations: { [KEYS.output]: `${request.output.root}/../etc/passwd` },
    }),
  });
  const { outcome } = await judged("outside", () => ({ kind: "adopt" })).done;
  expect(outcome).toMatchObject({ kind: "blocked", message: expect.stringContaining("does not say where") });
  expect((await job())?.annotations[KEYS.runId]).toBe(holder.request.runId);
  await end();
});

test("wait may become adopt, and a caller that cannot tell is asked again", async () => {
  const { holder } = await holderOf("later", { script: `console.log("on"); setTimeout(() => console.log("off"), 6000)` });
  let asked = 0;
  const run = judged("later", () => {
    asked++;
    if (asked === 1) throw new Error("not reachable");
    return { kind: asked === 2 ? "wait" : "adopt" };
  });
  expect((await holder.done).outcome).toMatchObject({ kind: "superseded", byRun: run.request.runId });
  expect(asked).toBe(3);
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("on\noff\n");
}, 60_000);

test("an adopted run is cancelled like any other", async () => {
  const { holder, job } = await holderOf("cancel");
  const run = judged("cancel", () => ({ kind: "adopt" }));
  await run.saw("on\n");
  expect((await holder.done).outcome).toMatchObject({ kind: "superseded" });
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
  await expect.poll(job, { timeout: 10_000 }).toBeNull();
}, 60_000);

test("a Job that is over and on record is removed, not replayed", async () => {
  const fault = bed.faults.fail({ verb: "delete", resource: "jobs" }, { status: 403, times: 99 });
  const first = startRun(bed, keyed("stale", { script: `console.log("old result")` }));
  expect((await first.done).outcome).toMatchObject({ kind: "exited" });
  fault.undo();
  const finished: boolean[] = [];
  const run = judged("stale", (holder) => {
    finished.push(holder.finished);
    return holder.finished ? { kind: "remove", why: "its end is on record" } : { kind: "wait" };
  });
  const { output } = await run.done;
  expect(output.toString()).toBe("own prompt\n");
  expect(finished.at(-1)).toBe(true);
}, 60_000);

test("a Job whose server died before its Secret was made is removed after a while, and the run starts anew", async () => {
  const fault = bed.faults.hang({ verb: "create", resource: "secrets" });
  const dead = { runId: "dead-run", key: "secretless", script: ENDLESS, continues: [] };
  const server = new ServerProcess(bed, [dead]);
  await expect
    .poll(async () => (await bed.list("jobs")).some(({ metadata }) => metadata.labels?.[KEYS.runId] === dead.runId), { timeout: 20_000 })
    .toBe(true);
  await server.kill();
  fault.undo();
  const run = judged("secretless", () => ({ kind: "adopt" }), { engine: { policy: { secretless: 3000 } } });
  const { outcome, output, status } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("own prompt\n");
  expect(status.some(({ text }) => text.includes("never got its Secret"))).toBe(true);
}, 60_000);

test("a delete of a Job as it was before it changed is refused", async () => {
  const { holder, name, job, uid, end } = await holderOf("changed");
  const { resourceVersion } = (await job())!;
  const claim = {
    uid,
    key: KEYS.runId,
    from: holder.request.runId,
    to: holder.request.runId,
    label: "x",
    annotations: { "suite.test/x": "y" },
  };
  expect(await claimJob(connection, bed.namespace, name, claim)).not.toBeNull();
  expect(await deleteJob(connection, bed.namespace, name, { uid, resourceVersion, propagation: "Foreground" })).toBe("changed");
  expect(await job()).toMatchObject({ uid, deletedAt: null });
  await end();
});

test("a server that has its result already does not clean up under who took the Job over since", async () => {
  const first = startRun(bed, keyed("lingers", { script: `console.log("done")`, engine: { lingerMs: 3000 } }));
  expect((await first.done).outcome).toMatchObject({ kind: "exited" });
  const second = judged("lingers", () => ({ kind: "adopt" }), { engine: { lingerMs: 8000 } });
  const { output, outcome } = await second.done;
  expect(output.toString()).toBe("done\n");
  await expect.poll(() => first.status.at(-1)?.text, { timeout: 10_000 }).toContain(`taken over by run ${second.request.runId}`);
  expect(await getJob(connection, bed.namespace, outcome.evidence.jobName)).toMatchObject({
    uid: outcome.evidence.jobUid,
    deletedAt: null,
  });
  await expect.poll(() => getJob(connection, bed.namespace, outcome.evidence.jobName), { timeout: 20_000 }).toBeNull();
}, 60_000);
