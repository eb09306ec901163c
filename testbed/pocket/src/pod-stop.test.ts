import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { Job } from "./job.ts";
import type { Pod } from "./pod.ts";
import { markedProcesses, podMarker } from "./processes.ts";
import {
  call,
  createJob,
  endedJob,
  gatedCommand,
  images,
  jobs,
  jobTransitions,
  mergePatch,
  messagesAbout,
  openWatch,
  podOf,
  pods,
  podTransitions,
  runningPod,
  secrets,
  until,
  type WatchLog,
} from "./test-client.ts";

// What happens when somebody ends a run: deadlines, deletions, suspension, and how each looks.

let cluster: Pocket;
let podLog: WatchLog<Pod>;
let jobLog: WatchLog<Job>;
const ns = "stops";
const handlesTerm = "trap 'exit 143' TERM; while :; do sleep 0.05; done";
const ignoresTerm = "trap '' TERM; while :; do sleep 0.05; done";

beforeAll(async () => {
  cluster = await startPocket({ images });
  cluster.createNamespace(ns);
  podLog = await openWatch<Pod>(cluster, pods(ns));
  jobLog = await openWatch<Job>(cluster, jobs(ns));
});
afterAll(() => cluster.stop());

const gone = (job: string) => until(() => podTransitions(podLog, job).at(-1) === "deleted", `${job}'s pod gone`);
const lastSeen = (job: string) => podLog.events.filter(({ object }) => object.metadata.labels?.["job-name"] === job).at(-1)!.object;
const failed = (job: string) => until(() => jobTransitions(jobLog, job).at(-1)?.includes("Failed:"), `${job} failed`);
const deletedJob = (job: string) => until(() => jobTransitions(jobLog, job).at(-1) === "deleted", `${job} gone`);
const deadline = "FailureTarget:DeadlineExceeded";
const backoff = "FailureTarget:BackoffLimitExceeded";
const start = ["Pending", "Pending waiting:ContainerCreating", "Running running"];

describe.concurrent("stopping", () => {
  test("activeDeadlineSeconds: FailureTarget at once, Failed when the pod is gone", async () => {
    await createJob(cluster, ns, "deadline", ignoresTerm, { spec: { activeDeadlineSeconds: 1 } });
    const job = await endedJob(cluster, ns, "deadline");
    await gone("deadline");
    await failed("deadline");
    expect(podTransitions(podLog, "deadline")).toEqual([
      ...start,
      "Running running deleting",
      "Failed terminated:Error(137) deleting",
      "deleted",
    ]);
    expect(jobTransitions(jobLog, "deadline")).toEqual([
      "nothing",
      "active=1",
      `terminating=1 ${deadline}`,
      `terminating=1 failed=1 ${deadline}`,
      `failed=1 ${deadline}`,
      `failed=1 ${deadline} Failed:DeadlineExceeded`,
    ]);
    expect(job.status.conditions?.[1]).toMatchObject({ type: "Failed", message: "Job was active longer than specified deadline" });
    expect(messagesAbout(cluster, ns, "deadline")).toContain("DeadlineExceeded: Job was active longer than specified deadline");
  });

  test("the pod's own activeDeadlineSeconds: the pod stays", async () => {
    await createJob(cluster, ns, "pod-deadline", handlesTerm, { pod: { activeDeadlineSeconds: 1 } });
    await endedJob(cluster, ns, "pod-deadline");
    expect(podTransitions(podLog, "pod-deadline").at(-1)).toBe("Failed DeadlineExceeded terminated:Error(143)");
    expect(podOf(cluster, ns, "pod-deadline")?.status.message).toBe("Pod was active on the node longer than the specified deadline");
  });

  test("a pod deleted through the API", async () => {
    await createJob(cluster, ns, "pod-deleted", handlesTerm);
    const pod = await runningPod(cluster, ns, "pod-deleted");
    const reply = await call<Pod>(cluster, "DELETE", `${pods(ns)}/${pod.metadata.name}`);
    expect(reply.body).toMatchObject({ kind: "Pod", metadata: { deletionGracePeriodSeconds: 1 } });
    await gone("pod-deleted");
    await failed("pod-deleted");
    expect(podTransitions(podLog, "pod-deleted")).toEqual([
      ...start,
      "Running running deleting",
      "Failed terminated:Error(143) deleting",
      "deleted",
    ]);
    expect(lastSeen("pod-deleted").metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
    expect(jobTransitions(jobLog, "pod-deleted").slice(2)).toEqual([
      `terminating=1 ${backoff}`,
      `terminating=1 failed=1 ${backoff}`,
      `failed=1 ${backoff}`,
      `failed=1 ${backoff} Failed:BackoffLimitExceeded`,
    ]);
    expect(messagesAbout(cluster, ns, pod.metadata.name)).toContain("Killing: Stopping container agent");
  });

  test("a pod deleted before its container ran", async () => {
    await createJob(cluster, ns, "early", "true", { container: { image: "missing:1" } });
    const pod = await until(() => {
      const found = podOf(cluster, ns, "early");
      return found?.status.containerStatuses?.[0]?.state.waiting?.reason === "ErrImagePull" ? found : undefined;
    }, "ErrImagePull");
    await call(cluster, "DELETE", `${pods(ns)}/${pod.metadata.name}`);
    await gone("early");
    expect(podTransitions(podLog, "early").at(-2)).toBe("Failed terminated:ContainerStatusUnknown(137) deleting");
  });

  test("a Job deleted in the background goes at once, its Secret and its pod after it", async () => {
    const job = await createJob(cluster, ns, "background", handlesTerm);
    const ownerReferences = [{ apiVersion: "batch/v1", kind: "Job", name: "background", uid: job.metadata.uid }];
    await call(cluster, "POST", secrets(ns), { metadata: { name: "background", ownerReferences } });
    await runningPod(cluster, ns, "background");
    const reply = await call(cluster, "DELETE", `${jobs(ns)}/background`, { propagationPolicy: "Background" });
    expect(reply.body).toMatchObject({ kind: "Status", status: "Success", details: { name: "background", group: "batch", kind: "jobs" } });
    expect(cluster.get("jobs", ns, "background")).toBeUndefined();
    await gone("background");
    expect(podTransitions(podLog, "background").slice(-3)).toEqual([
      "Running running deleting",
      "Failed terminated:Error(143) deleting",
      "deleted",
    ]);
    expect(cluster.get("secrets", ns, "background")).toBeUndefined();
  });

  test("a Job deleted in the foreground stays until its pod is gone", async () => {
    await createJob(cluster, ns, "foreground", ignoresTerm);
    await runningPod(cluster, ns, "foreground");
    const reply = await call<Job>(cluster, "DELETE", `${jobs(ns)}/foreground?propagationPolicy=Foreground`);
    expect(reply.body.metadata).toMatchObject({ finalizers: ["foregroundDeletion"], deletionTimestamp: expect.any(String) });
    await gone("foreground");
    await deletedJob("foreground");
    const versionOf = (log: WatchLog<Job> | WatchLog<Pod>) => {
      const events = log.events as { type: string; object: Job | Pod }[];
      const last = events.find(({ type, object }) => type === "DELETED" && object.metadata.name.startsWith("foreground"))!;
      return Number(last.object.metadata.resourceVersion);
    };
    expect(versionOf(jobLog)).toBeGreaterThan(versionOf(podLog));
  });

  test("a Job deleted without a policy leaves its pod behind, with a warning", async () => {
    const { command, letGo } = gatedCommand("true");
    await createJob(cluster, ns, "orphan", command);
    const pod = await runningPod(cluster, ns, "orphan");
    const reply = await call(cluster, "DELETE", `${jobs(ns)}/orphan`);
    expect(reply.headers.get("warning")).toContain("child pods are preserved by default");
    await deletedJob("orphan");
    letGo();
    const left = await until(() => {
      const found = cluster.get("pods", ns, pod.metadata.name);
      return found?.status.phase === "Succeeded" ? found : undefined;
    }, "the orphan's end");
    expect(left.metadata.ownerReferences).toEqual([]);
  });

  test("suspend ends the pod without counting it; resumed, a new one runs", async () => {
    // The first pod goes on until it is stopped, the second ends at once.
    const marker = join(tmpdir(), `suspended-${randomUUID()}`);
    await createJob(cluster, ns, "suspended", `if [ -e ${marker} ]; then rm ${marker}; else touch ${marker}; exec sleep 600; fi`);
    await runningPod(cluster, ns, "suspended");
    await until(() => existsSync(marker), "the first pod at work");
    await call(cluster, "PATCH", `${jobs(ns)}/suspended`, { spec: { suspend: true } }, mergePatch);
    await gone("suspended");
    await until(() => jobTransitions(jobLog, "suspended").at(-1) === "Suspended:JobSuspended", "no pod left");
    expect(cluster.get("jobs", ns, "suspended")?.status).toMatchObject({ terminating: 0, ready: 0 });
    expect(cluster.get("jobs", ns, "suspended")?.status).not.toHaveProperty("failed");
    await call(cluster, "PATCH", `${jobs(ns)}/suspended`, { spec: { suspend: false } }, mergePatch);
    expect((await endedJob(cluster, ns, "suspended")).status.succeeded).toBe(1);
  });

  test("ttlSecondsAfterFinished removes Job and pod", async () => {
    await createJob(cluster, ns, "ttl", "true", { spec: { ttlSecondsAfterFinished: 1 } });
    await endedJob(cluster, ns, "ttl");
    await deletedJob("ttl");
    expect(podOf(cluster, ns, "ttl")).toBeUndefined();
  });

  test("an object whose owner does not exist is collected", async () => {
    const ownerReferences = [{ apiVersion: "batch/v1", kind: "Job", name: "never", uid: "11111111-2222-3333-4444-555555555555" }];
    await call(cluster, "POST", secrets(ns), { metadata: { name: "stray", ownerReferences } });
    await until(() => !cluster.get("secrets", ns, "stray"), "the stray Secret gone");
  });

  // Without /proc the environment of a system program cannot be read, so only the group is found.
  test.skipIf(process.platform !== "linux")("what left the process group ends with the container", async () => {
    await createJob(cluster, ns, "leftover", "setsid sleep 1234.5 & echo $!; sleep 0.7");
    const pod = await until(() => podOf(cluster, ns, "leftover"), "the pod");
    const pid = Number(await until(() => cluster.podLog(ns, pod.metadata.name), "its pid"));
    // A process that is just being replaced by the next program has no environment for a moment.
    await until(() => markedProcesses(podMarker, pod.metadata.uid).includes(pid), "the process that left");
    await endedJob(cluster, ns, "leftover");
    expect(markedProcesses(podMarker, pod.metadata.uid)).toEqual([]);
  });

  test("SIGTERM reaches the main process alone", async () => {
    const child = "trap 'echo child got it' TERM; while :; do sleep 0.05; done";
    await createJob(
      cluster,
      ns,
      "main-only",
      `sh -c "$CHILD" & trap 'echo main got it; sleep 0.3; exit 0' TERM; while :; do sleep 0.05; done`,
      {
        container: { env: [{ name: "CHILD", value: child }] },
      },
    );
    const pod = await runningPod(cluster, ns, "main-only");
    await sleep(100);
    cluster.faults.deletePod(ns, pod.metadata.name);
    await gone("main-only");
    expect(cluster.podLog(ns, pod.metadata.name)).toBe("main got it\n");
  });
});
