// The same promises against the embedded cluster: its controllers and its faults instead of a scripted server.
import { dirname } from "node:path";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClock, systemClock, type Timers } from "../../clock.ts";
import { getJob, listEvents } from "../calls.ts";
import { type Connection, connect } from "../connection.ts";
import { paths } from "../paths.ts";
import { permissions } from "../permissions.ts";
import { deleteByUid } from "../testing/delete-job.ts";
import { pause, until } from "../testing/test-api.ts";
import type { ClusterFact } from "../views.ts";
import { createJob, createUnlessThere } from "../writes.ts";
import { RunWatch, type RunWatchOptions } from "./run-watch.ts";

const retry = { minMs: 5, maxMs: 20 };
let pocket: Pocket;
let connection: Connection;
let watch: RunWatch | null = null;

beforeEach(async () => {
  pocket = await startPocket({ images: { "agent:1": { path: [dirname(process.execPath), "/bin", "/usr/bin"] } } });
  connection = await connect({ kubeconfig: pocket.kubeconfig });
});
afterEach(async () => {
  watch?.close();
  watch = null;
  connection.close();
  await pocket.stop();
});

function job(name: string, command: string[] = ["sh", "-c", "exit 3"], nonce = "1") {
  const labels = { app: "x" };
  const containers = [{ name: "agent", image: "agent:1", command }];
  const template = { metadata: { labels }, spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers } };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels: { ...labels, run: "r1" }, annotations: { nonce } },
    spec: { backoffLimit: 0, template },
  };
}

function start(options: RunWatchOptions = {}): RunWatch {
  watch = new RunWatch(connection, "default", "app=x", { backoff: { minMs: 5, maxMs: 40 }, steadyMs: 20, ...options });
  return watch;
}

function hear(to: RunWatch, name: string, uid?: string) {
  const facts: ClusterFact[] = [];
  to.subscribe(name, (fact) => facts.push(fact), uid);
  const kinds = () => facts.map(({ kind }) => kind);
  const exitCodes = () =>
    facts
      .flatMap((fact) => (fact.kind === "pod" ? fact.pod.containers : []))
      .flatMap(({ state }) => (state.kind === "terminated" ? [state.exitCode] : []));
  return { facts, kinds, exitCodes };
}

async function submit(name: string, command?: string[]): Promise<string> {
  const result = await createJob(connection, "default", job(name, command), { retry });
  if (!("created" in result)) throw new Error("it exists");
  return result.created.uid;
}

test("a run from create to delete: two lists, two watches, three requests", async () => {
  const shared = start();
  hear(shared, "a");
  const uid = await submit("a");
  const ear = hear(shared, "a", uid);
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "a", uid };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", ownerReferences: [owner] }, stringData: { prompt: "p" } };
  expect(await createUnlessThere(connection, paths.secrets("default"), secret)).toBe(true);
  await until(() => ear.facts.some((fact) => fact.kind === "job" && "Failed" in fact.job.conditions));
  expect(ear.exitCodes()).toContain(3);
  expect(await deleteByUid(connection, "default", "a", { uid, propagation: "Background" })).toBe("deleted");
  await until(() => ear.kinds().includes("job-gone") && ear.kinds().includes("pod-gone"));
  expect(
    ear
      .kinds()
      .filter((kind) => kind.endsWith("-gone"))
      .sort(),
  ).toEqual(["job-gone", "pod-gone"]);
  expect(pocket.requests.map(({ verb, resource }) => `${verb} ${resource}`).sort()).toEqual([
    "create jobs",
    "create secrets",
    "delete jobs",
    "list jobs",
    "list pods",
    "watch jobs",
    "watch pods",
  ]);
});

test("a wrong uid deletes nothing, with any propagation", async () => {
  const ear = hear(start(), "a");
  const uid = await submit("a", ["sleep", "60"]);
  await until(() => ear.kinds().includes("pod"));
  for (const propagation of ["Background", "Foreground"] as const) {
    expect(await deleteByUid(connection, "default", "a", { uid: "00000000-0000-0000-0000-000000000000", propagation })).toBe("replaced");
  }
  expect(await getJob(connection, "default", "a")).toMatchObject({ uid, deletedAt: null });
  expect(pocket.list("pods", "default").map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined]);
});

test("foreground keeps the Job until its pod is gone", async () => {
  const ear = hear(start(), "a");
  const uid = await submit("a", ["sleep", "60"]);
  await until(() => ear.facts.some((fact) => fact.kind === "pod" && fact.pod.phase === "Running"));
  await deleteByUid(connection, "default", "a", { uid, propagation: "Foreground" });
  await until(() => ear.kinds().includes("job-gone"));
  expect(ear.kinds().indexOf("pod-gone")).toBeGreaterThan(-1);
  expect(ear.facts.find((fact) => fact.kind === "job" && fact.job.deletedAt !== null)).toBeDefined();
});

test("an answer lost before or after the create: one Job, and its nonce is found", async () => {
  pocket.faults.drop({ verb: "create", resource: "jobs" }, { when: "after" });
  expect(await createJob(connection, "default", job("a"), { retry })).toMatchObject({ existing: { annotations: { nonce: "1" } } });
  pocket.faults.drop({ verb: "create", resource: "jobs" }, { when: "before" });
  expect(await createJob(connection, "default", job("b"), { retry })).toMatchObject({ created: { name: "b" } });
  pocket.faults.hang({ verb: "create", resource: "jobs" });
  const third = await createJob(connection, "default", job("c"), { retry, timeoutMs: 500 });
  // On a busy machine the second attempt may run out of time as well, and then has made it.
  expect("created" in third ? third.created : third.existing).toMatchObject({ name: "c", annotations: { nonce: "1" } });
  pocket.faults.fail({ verb: "create", resource: "jobs" }, { status: 429, retryAfter: 1, times: 1 });
  const waits: number[] = [];
  const after: Timers["after"] = (ms, callback, hold) => {
    waits.push(ms);
    return systemClock.after(0, callback, hold);
  };
  const clock = createClock({ now: systemClock.now, after });
  expect(await createJob(connection, "default", job("d"), { retry: { ...retry, clock } })).toMatchObject({ created: { name: "d" } });
  expect(waits).toEqual([1_000]);
  expect(pocket.list("jobs", "default")).toHaveLength(4);
});

test("whatever happens to the watches, each run's end is heard once and nothing is called gone", async () => {
  const shared = start({ idleMs: 400 });
  const ears: ReturnType<typeof hear>[] = [];
  hear(shared, "first");
  await shared.ready;
  pocket.faults.duplicateEvents();
  const faults = [
    () => pocket.faults.cutWatches(),
    () => {
      pocket.faults.expireHistory({ as: "event" });
      pocket.faults.cutWatches();
    },
    () => {
      pocket.faults.expireHistory({ as: "http" });
      pocket.faults.cutWatches();
    },
    () => setTimeout(pocket.faults.silenceWatches().undo, 300),
    () => pocket.faults.fail({ watch: true }, { status: 503, times: 3 }),
  ];
  for (const [i, fault] of faults.entries()) {
    ears.push(hear(shared, `j${i}`, await submit(`j${i}`, ["sh", "-c", `exit ${i + 1}`])));
    fault();
  }
  await until(() => ears.every(({ facts }) => facts.some((fact) => fact.kind === "job" && "Failed" in fact.job.conditions)), "all ended");
  for (const [i, ear] of ears.entries()) {
    expect(new Set(ear.exitCodes())).toEqual(new Set([i + 1]));
    expect(ear.kinds()).not.toContain("job-gone");
  }
});

test("an API server that goes away and comes back: lost, back, and the end that happened meanwhile", async () => {
  const shared = start();
  const ear = hear(shared, "a", await submit("a"));
  await pocket.faults.down();
  await until(() => ear.kinds().includes("api-lost"));
  await pause(400);
  await pocket.faults.up();
  await until(() => ear.kinds().includes("api-back") && ear.exitCodes().includes(3));
  expect(ear.kinds().filter((kind) => kind === "api-lost" || kind === "api-back")).toEqual(["api-lost", "api-back"]);
  expect(ear.kinds()).not.toContain("job-gone");
});

test("a Job deleted while the API server could not be seen is gone, by the list", async () => {
  const ear = hear(start(), "a", await submit("a", ["sleep", "60"]));
  await until(() => ear.kinds().includes("pod"));
  await pocket.faults.down();
  pocket.faults.deleteJob("default", "a");
  pocket.faults.expireHistory();
  await pocket.faults.up();
  await until(() => ear.kinds().includes("job-gone"));
});

test("events explain a pod that cannot start; without the permission the error names it", async () => {
  pocket.faults.unschedulable();
  const ear = hear(start(), "a");
  await submit("a");
  await until(() => ear.kinds().includes("pod"));
  const fact = ear.facts.find((each) => each.kind === "pod");
  const uid = fact?.kind === "pod" ? fact.pod.uid : "";
  let events = await listEvents(connection, "default", uid);
  for (let i = 0; i < 50 && events.length === 0; i++) {
    await pause(20);
    events = await listEvents(connection, "default", uid);
  }
  expect(events).toContainEqual(expect.objectContaining({ type: "Warning", reason: "FailedScheduling" }));
  pocket.faults.deny({ verb: "list", resource: "events" });
  await expect(listEvents(connection, "default", uid)).rejects.toThrow('needs "list" on "events"');
});

test("requests stay within the permissions, over few connections", async () => {
  const shared = start();
  const ears = await Promise.all(Array.from({ length: 10 }, async (_, i) => hear(shared, `j${i}`, await submit(`j${i}`))));
  await until(() => ears.every(({ facts }) => facts.some((fact) => fact.kind === "job" && "Failed" in fact.job.conditions)), "all ended");
  await Promise.all(
    pocket
      .list("jobs", "default")
      .map(({ metadata }) => deleteByUid(connection, "default", metadata.name, { uid: metadata.uid!, propagation: "Background" })),
  );
  const allowed = permissions.map(({ verb, resource }) => `${verb} ${resource}`);
  for (const { verb, resource } of pocket.requests) expect(allowed).toContain(`${verb} ${resource}`);
  expect(pocket.connections).toBeLessThanOrEqual(14);
});
