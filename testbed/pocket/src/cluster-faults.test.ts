import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test as plainTest } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { Job } from "./job.ts";
import type { Pod } from "./pod.ts";
import {
  createJob,
  endedJob,
  gatedCommand,
  images,
  jobs,
  jobTransitions,
  messagesAbout,
  openWatch,
  podOf,
  pods,
  podTransitions,
  runningPod,
  until,
} from "./test-client.ts";

// Faults of the whole cluster, each in a cluster of its own: what they do to Jobs, and that undoing them helps.

const test = plainTest.concurrent;
const clusters: Pocket[] = [];
afterAll(() => Promise.all(clusters.map((cluster) => cluster.stop())));

async function start(): Promise<Pocket> {
  const cluster = await startPocket({ images, timings: { imagePull: 50, imageBackoff: 50, createRetry: 50 } });
  clusters.push(cluster);
  cluster.createNamespace(ns);
  return cluster;
}

const ns = "faults";
const handlesTerm = "trap 'exit 143' TERM; while :; do sleep 0.05; done";
const state = (cluster: Pocket) => podOf(cluster, ns, "job")?.status.containerStatuses?.[0]?.state;
const condition = (cluster: Pocket, type: string) => podOf(cluster, ns, "job")?.status.conditions?.find((found) => found.type === type);

test("unschedulable until undone", async () => {
  const cluster = await start();
  const fault = cluster.faults.unschedulable("1 node(s) were unschedulable");
  await createJob(cluster, ns, "job", "true");
  const seen = await until(() => condition(cluster, "PodScheduled"), "a condition");
  expect(seen).toMatchObject({
    status: "False",
    reason: "Unschedulable",
    message: expect.stringContaining("1 node(s) were unschedulable"),
  });
  fault.undo();
  await endedJob(cluster, ns, "job");
});

test("an image that cannot be pulled until undone", async () => {
  const cluster = await start();
  const fault = cluster.faults.imageError("agent:1");
  await createJob(cluster, ns, "job", "true");
  await until(() => state(cluster)?.waiting?.reason === "ImagePullBackOff", "ImagePullBackOff");
  fault.undo();
  await endedJob(cluster, ns, "job");
});

test.for([
  ["quota", "is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"],
  ["service-account", 'is forbidden: error looking up service account faults/default: serviceaccount "default" not found'],
] as const)("no pod at all: %s", async ([why, text]) => {
  const cluster = await start();
  const fault = cluster.faults.noPods(why);
  await createJob(cluster, ns, "job", "true");
  const tries = () => cluster.list("events", ns).reduce((sum, { count }) => sum + count, 0);
  await until(() => tries() >= 4, "four tries");
  expect(messagesAbout(cluster, ns, "job")[0]).toContain(text);
  const { status } = cluster.get("jobs", ns, "job")!;
  expect(status).toEqual({ startTime: expect.any(String), terminating: 0, ready: 0, uncountedTerminatedPods: {} });
  fault.undo();
  await endedJob(cluster, ns, "job");
});

test("refused pods are tried again at 0, 1, 3, 7 times the unit", async () => {
  const cluster = await start();
  cluster.faults.noPods();
  await createJob(cluster, ns, "job", "true");
  const times: number[] = [];
  await until(() => {
    const tries = cluster.list("events", ns).reduce((sum, { count }) => sum + count, 0);
    while (times.length < tries) times.push(Date.now());
    return times.length >= 4;
  }, "four tries");
  // Watched by polling, so single gaps blur; their sum does not: pauses that do not grow would be 150.
  expect(times[3]! - times[0]!).toBeGreaterThanOrEqual(300);
});

test("node lost: Ready turns False, all else freezes while the process goes on, and catches up", async () => {
  const cluster = await start();
  const { command, letGo } = gatedCommand("echo went on");
  await createJob(cluster, ns, "job", command);
  const pod = (await runningPod(cluster, ns, "job")).metadata.name;
  const fault = cluster.faults.loseNode();
  letGo();
  await until(() => cluster.podLog(ns, pod) !== "", "the process goes on");
  await sleep(600);
  expect(condition(cluster, "Ready")).toMatchObject({ status: "False" });
  expect(state(cluster)).toHaveProperty("running");
  expect(podOf(cluster, ns, "job")?.status.phase).toBe("Running");
  expect(cluster.get("jobs", ns, "job")?.status).toMatchObject({ active: 1, ready: 0 });
  expect(cluster.get("nodes", undefined, "pocket")?.status.conditions[0]).toMatchObject({ status: "Unknown", reason: "NodeStatusUnknown" });
  expect(messagesAbout(cluster, ns, pod)).toContain("NodeNotReady: Node is not ready");
  fault.undo();
  expect((await endedJob(cluster, ns, "job")).status.succeeded).toBe(1);
});

test("node lost with others left: marked deleted, stuck, and never Failed until the node returns", async () => {
  const cluster = await start();
  const podLog = await openWatch<Pod>(cluster, pods(ns));
  const jobLog = await openWatch<Job>(cluster, jobs(ns));
  await createJob(cluster, ns, "job", handlesTerm);
  const pod = (await runningPod(cluster, ns, "job")).metadata.name;
  const fault = cluster.faults.loseNode({ taint: true });
  await until(() => jobTransitions(jobLog, "job").at(-1)?.startsWith("terminating=1 failed=1"), "FailureTarget");
  await sleep(300);
  expect(podTransitions(podLog, "job").at(-1)).toBe("Running running deleting DeletionByTaintManager");
  expect(jobTransitions(jobLog, "job").at(-1)).toBe("terminating=1 failed=1 FailureTarget:BackoffLimitExceeded");
  expect(cluster.podPid(ns, pod)).toBeDefined();
  expect(messagesAbout(cluster, ns, pod)).toContain(`TaintManagerEviction: Marking for deletion Pod faults/${pod}`);
  fault.undo();
  await until(() => podTransitions(podLog, "job").at(-1) === "deleted", "the pod gone");
  await until(() => jobTransitions(jobLog, "job").at(-1)?.includes(" Failed:"), "Failed");
});
