import { randomUUID } from "node:crypto";
import { type Permission, permissions, removeJob, removeSecret } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { getJob } from "../../../packages/engine/src/kube/calls.ts";
import { type Connection, connect } from "../../../packages/engine/src/kube/connection.ts";
import { paths } from "../../../packages/engine/src/kube/paths.ts";
import { deleteByUid } from "../../../packages/engine/src/kube/testing/delete-job.ts";
import { changeJobOwner, createJob, createUnlessThere, deleteJob, labelPod } from "../../../packages/engine/src/kube/writes.ts";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { logRequests } from "./request-log.ts";
import { KEYS, keyed, type RunHandle, type RunOptions, startRun } from "./run.ts";

// Every compare-and-swap, and every delete with a precondition, meets what it must refuse.

const SECRETS: Permission[] = (["list", "delete"] as const).map(
  (verb) => ({ verb, resource: "secrets", group: "", scope: "namespace" }) as Permission,
);
let bed: Bed;
let kubeconfig: string;
let connection: Connection;
beforeAll(async () => {
  bed = await startBed();
  kubeconfig = await bed.account([...permissions, ...SECRETS]);
  connection = await connect({ kubeconfig });
});
afterEach(() => calm(bed));
afterAll(async () => {
  connection?.close();
  await bed.stop();
});

const OTHER = "00000000-0000-0000-0000-000000000000";
const ENDLESS = `console.log("on"); setInterval(() => {}, 1000)`;
const jobNamed = (name: string) => getJob(connection, bed.namespace, name);

async function live(options: RunOptions = {}) {
  const run = startRun(bed, keyed(randomUUID(), { script: ENDLESS, ...options }));
  await run.saw("on\n");
  const name = await run.job();
  const { uid } = (await jobNamed(name))!;
  const claim = { uid, key: KEYS.runId, from: run.request.runId, to: "thief", label: "thief", annotations: {} };
  return { run, name, uid, claim, startCompeting: (competing: RunOptions) => startRun(bed, keyed(run.request.exclusive ?? "", competing)) };
}

async function end(...runs: RunHandle[]): Promise<void> {
  for (const run of runs) run.cancel();
  await Promise.all(runs.map((run) => run.done));
}

/** Neither another's, nor going. */
const expectUntouched = async (name: string, uid: string, runId: string) =>
  expect(await jobNamed(name)).toMatchObject({
    uid,
    deletedAt: null,
    annotations: { [KEYS.runId]: runId },
    labels: { [KEYS.runId]: runId },
  });

test("a claim: another uid, another run, another name", async () => {
  const { run, name, uid, claim } = await live();
  expect(await changeJobOwner(connection, bed.namespace, name, { ...claim, uid: OTHER })).toBeNull();
  expect(await changeJobOwner(connection, bed.namespace, name, { ...claim, from: "somebody-else" })).toBeNull();
  expect(await changeJobOwner(connection, bed.namespace, "suite-none", claim)).toBeNull();
  await expectUntouched(name, uid, run.request.runId);
  await end(run);
});

test("a label for a pod: another uid", async () => {
  const { run } = await live();
  const pod = await run.pod();
  await expect(labelPod(connection, bed.namespace, { name: pod, uid: OTHER }, { [KEYS.runId]: "thief" })).rejects.toThrow(/409|422/);
  expect(await run.pod()).toBe(pod);
  await end(run);
});

test("a delete of a Job: another uid, an earlier version", async () => {
  const { run, name, uid, claim } = await live();
  const before = (await jobNamed(name))!;
  const owner = { key: KEYS.runId, runId: run.request.runId };
  const options = { owner, propagation: "Foreground" } as const;
  for (const exact of [true, false])
    expect(await deleteJob(connection, bed.namespace, { ...before, uid: OTHER }, { ...options, exact })).toBe("replaced");
  const same = { ...claim, to: run.request.runId, label: run.request.runId, annotations: { "suite.test/x": "y" } };
  expect(await changeJobOwner(connection, bed.namespace, name, same)).not.toBeNull();
  // An operator's sweep.
  expect(await removeJob({ kubeconfig }, bed.namespace, before)).toBe("changed");
  await expectUntouched(name, uid, run.request.runId);
  await end(run);
});

test("a delete of a Secret: another uid", async () => {
  const { run } = await live();
  const secret = (await bed.list("secrets")).find(({ metadata }) => metadata.labels?.[KEYS.runId] === run.request.runId);
  expect(await removeSecret({ kubeconfig }, bed.namespace, { name: secret?.metadata.name ?? "", uid: OTHER })).toBe("replaced");
  expect(await run.secrets()).toBe(1);
  await end(run);
});

test("a create of a name that is taken: Job, Secret, claim", async () => {
  const { run, name, uid } = await live();
  const metadata = { name, annotations: { [KEYS.nonce]: "another" } };
  const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "agent", image: bed.images.agent }] } } };
  const job = { apiVersion: "batch/v1", kind: "Job", metadata, spec };
  expect(await createJob(connection, bed.namespace, job)).toMatchObject({ existing: { uid } });
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: `taken-${run.request.runId}` } };
  expect(await createUnlessThere(connection, paths.secrets(bed.namespace), secret)).toBe(true);
  expect(await createUnlessThere(connection, paths.secrets(bed.namespace), secret)).toBe(false);
  const resources = { requests: { storage: "1Gi" } };
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteMany"], resources },
  };
  expect(await createUnlessThere(connection, paths.claims(bed.namespace), claim)).toBe(false);
  await end(run);
});

test("a create nobody answered, cancelled, while the name is another's: that Job is not taken for its own", async () => {
  const { run, name, uid } = await live();
  const fault = bed.faults.hang({ verb: "create", resource: "jobs" }, { times: 99 });
  // Without a key nothing is looked up before the create.
  const unlucky = startRun(bed, { script: "", change: (request) => ({ ...request, name: run.request.name }) });
  await expect.poll(() => fault.hits).toBe(1);
  unlucky.cancel();
  expect((await unlucky.done).outcome).toMatchObject({ kind: "cancelled", evidence: { jobUid: null } });
  fault.undo();
  await expectUntouched(name, uid, run.request.runId);
  await end(run);
});

test("a cancel of a run whose Job was replaced unseen: the new one goes on", async () => {
  // It takes its time, so that the name is free while its pod still ends.
  const { run, name, uid, startCompeting } = await live({ script: `process.on("SIGTERM", () => {}); ${ENDLESS}` });
  const fault = bed.faults.silenceWatches();
  await bed.faults.deleteJob(name, "Background");
  const next = startCompeting({ script: ENDLESS });
  await next.saw("on\n");
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled" });
  const job = await jobNamed(name);
  expect(job).toMatchObject({ deletedAt: null, annotations: { [KEYS.runId]: next.request.runId } });
  expect(job?.uid).not.toBe(uid);
  fault.undo();
  bed.faults.cutWatches();
  await end(next);
});

test("a cancel of a run whose Job was taken over unseen: the new owner keeps it", async () => {
  const { run, name, uid, claim } = await live();
  const fault = bed.faults.silenceWatches();
  expect(
    await changeJobOwner(connection, bed.namespace, name, { ...claim, annotations: { [KEYS.adoptedFrom]: claim.from } }),
  ).not.toBeNull();
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "superseded", byRun: "thief" });
  await expectUntouched(name, uid, "thief");
  fault.undo();
  bed.faults.cutWatches();
  expect(await deleteByUid(connection, bed.namespace, name, { uid, propagation: "Foreground" })).toBe("deleted");
});

test("a delete looks again at a Job that has changed, and deletes it only if its owner has not", async () => {
  const { run, name, uid, claim } = await live();
  const owner = { key: KEYS.runId, runId: run.request.runId };
  const options = { owner, propagation: "Foreground" } as const;
  const stale = (await jobNamed(name))!;
  const former = { [KEYS.adoptedFrom]: claim.from };
  await changeJobOwner(connection, bed.namespace, name, { ...claim, annotations: former });
  expect(await deleteJob(connection, bed.namespace, stale, options)).toMatchObject({
    taken: { uid, annotations: { [KEYS.runId]: "thief" } },
  });
  await expectUntouched(name, uid, "thief");
  await changeJobOwner(connection, bed.namespace, name, { ...claim, from: "thief", to: claim.from, label: claim.from });
  // Both views are out of date: the one of another run's as well.
  const taken = { ...stale, annotations: { ...stale.annotations, [KEYS.runId]: "thief" } };
  expect(await deleteJob(connection, bed.namespace, taken, options)).toBe("deleted");
  expect(await deleteJob(connection, bed.namespace, stale, options)).toMatch(/deleted|gone/);
  await run.done;
});

test("a delete whose view is out of date asks for no other where the watch brings one, and believes none that another owns", async () => {
  const { run, name, claim } = await live();
  const owner = { key: KEYS.runId, runId: run.request.runId };
  const stale = (await jobNamed(name))!;
  const change = (change: object) => changeJobOwner(connection, bed.namespace, name, { ...claim, ...change });
  await change({ annotations: { [KEYS.adoptedFrom]: claim.from } });
  const options = { owner, propagation: "Foreground", newer: () => jobNamed(name) } as const;
  expect(await deleteJob(connection, bed.namespace, stale, options)).toMatchObject({ taken: { annotations: { [KEYS.runId]: "thief" } } });
  await change({ from: "thief", to: claim.from, label: claim.from });
  const current = (await jobNamed(name))!;
  const requests = logRequests(kubeconfig);
  const asked: string[] = [];
  const newer = async (version: string) => {
    asked.push(version);
    return current;
  };
  expect(await deleteJob(connection, bed.namespace, stale, { ...options, newer })).toBe("deleted");
  requests.stop();
  expect(asked).toEqual([stale.resourceVersion]);
  if (requests.broken() === 0 && !onKube) expect(requests.begun()).toEqual({ "DELETE jobs": 2 });
  await run.done;
});

test("a clean-up after the result, the Job taken over unseen: the new owner keeps it", async () => {
  const first = startRun(bed, keyed(randomUUID(), { script: `console.log("done")`, engine: { lingerMs: 4000 } }));
  const { outcome } = await first.done;
  expect(outcome).toMatchObject({ kind: "exited" });
  const { jobName, jobUid } = outcome.evidence;
  const fault = bed.faults.silenceWatches();
  const claim = { uid: jobUid ?? "", key: KEYS.runId, from: first.request.runId, to: "thief", label: "thief" };
  expect(
    await changeJobOwner(connection, bed.namespace, jobName, { ...claim, annotations: { [KEYS.adoptedFrom]: claim.from } }),
  ).not.toBeNull();
  await expect.poll(() => first.status.at(-1)?.text).toContain("taken over by run thief");
  await expectUntouched(jobName, jobUid ?? "", "thief");
  fault.undo();
  bed.faults.cutWatches();
  expect(await deleteByUid(connection, bed.namespace, jobName, { uid: jobUid ?? "", propagation: "Foreground" })).toBe("deleted");
});

test("a Job that is to be removed, and taken over while that was decided: it stays, and is decided about anew", async () => {
  const { run, name, uid, claim, startCompeting } = await live();
  const owners: (string | null)[] = [];
  const other = startCompeting({
    script: "",
    onLockConflict: async (owner) => {
      owners.push(owner.runId);
      if (owners.length === 1) return { kind: "wait" };
      if (owners.length > 2) return { kind: "blocked", code: "not_mine", message: "it is another's" };
      await changeJobOwner(connection, bed.namespace, name, { ...claim, annotations: { [KEYS.adoptedFrom]: claim.from } });
      return { kind: "remove", why: "nobody needs it" };
    },
  });
  expect((await run.done).outcome).toMatchObject({ kind: "superseded", byRun: "thief" });
  expect((await other.done).outcome).toMatchObject({ kind: "blocked", code: "not_mine" });
  expect(owners).toEqual([run.request.runId, run.request.runId, "thief"]);
  await expectUntouched(name, uid, "thief");
  expect(await deleteByUid(connection, bed.namespace, name, { uid, propagation: "Foreground" })).toBe("deleted");
});
