import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { Job } from "./job.ts";
import type { Pod } from "./pod.ts";
import {
  call,
  createJob,
  endedJob,
  images,
  jobs,
  jobTransitions,
  openWatch,
  podOf,
  pods,
  podTransitions,
  runningPod,
  until,
  type WatchLog,
} from "./test-client.ts";

// Faults of pods, in the shapes Kubernetes 1.34.4 gave them.

let cluster: Pocket;
let podLog: WatchLog<Pod>;
let jobLog: WatchLog<Job>;
const ns = "faults";
const handlesTerm = "trap 'exit 143' TERM; while :; do sleep 0.05; done";

beforeAll(async () => {
  cluster = await startPocket({ images, timings: { imagePull: 50, imageBackoff: 50, createRetry: 50 } });
  cluster.createNamespace(ns);
  podLog = await openWatch<Pod>(cluster, pods(ns));
  jobLog = await openWatch<Job>(cluster, jobs(ns));
});
afterAll(() => cluster.stop());

const start = async (job: string, script = handlesTerm): Promise<string> => {
  await createJob(cluster, ns, job, script);
  return (await runningPod(cluster, ns, job)).metadata.name;
};
const gone = (job: string) => until(() => podTransitions(podLog, job).at(-1) === "deleted", `${job}'s pod gone`);
const failed = (job: string) => until(() => jobTransitions(jobLog, job).at(-1)?.includes(" Failed:"), `${job} failed`);
const state = (job: string) => podOf(cluster, ns, job)?.status.containerStatuses?.[0]?.state;
const condition = (job: string, type: string) => podOf(cluster, ns, job)?.status.conditions?.find((found) => found.type === type);

describe.concurrent("one pod", () => {
  test("out of memory, all processes: 137, OOMKilled", async () => {
    cluster.faults.oom(ns, await start("oom"));
    await failed("oom");
    expect(podTransitions(podLog, "oom").slice(2)).toEqual([
      "Running running",
      "Running terminated:OOMKilled(137)",
      "Failed terminated:OOMKilled(137)",
    ]);
  });

  test("out of memory, the main process", async () => {
    cluster.faults.oom(ns, await start("oom-main"), "main");
    await failed("oom-main");
    expect(state("oom-main")?.terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
  });

  test("out of memory, a child: the main process decides, the reason stays", async () => {
    const child = "sleep 1234 & wait $!; code=$?; echo child $code;";
    const zero = await start("oom-child", `${child} exit 0`);
    const passed = await start("oom-passed", `${child} exit $code`);
    cluster.faults.oom(ns, zero, "child");
    cluster.faults.oom(ns, passed, "child");
    expect((await endedJob(cluster, ns, "oom-child")).status.succeeded).toBe(1);
    expect(state("oom-child")?.terminated).toMatchObject({ exitCode: 0, reason: "OOMKilled" });
    await endedJob(cluster, ns, "oom-passed");
    expect(state("oom-passed")?.terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
    expect(cluster.podLog(ns, passed)).toContain("child 137");
  });

  test("evicted by the kubelet: the pod stays, its container is unknown", async () => {
    cluster.faults.evictByKubelet(ns, await start("kubelet"));
    await failed("kubelet");
    expect(podTransitions(podLog, "kubelet").slice(2)).toEqual([
      "Running running",
      "Failed Evicted waiting:ContainerCreating",
      "Failed Evicted terminated:ContainerStatusUnknown(137)",
    ]);
    const { status } = podOf(cluster, ns, "kubelet")!;
    expect(status.message).toBe('Usage of EmptyDir volume "e" exceeds the limit "5Mi". ');
    expect(status.containerStatuses).toMatchObject([
      {
        restartCount: 1,
        state: {
          terminated: { message: "The container could not be located when the pod was terminated", startedAt: null, finishedAt: null },
        },
        lastState: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
      },
    ]);
    expect(condition("kubelet", "DisruptionTarget")).toBeUndefined();
  });

  test("evicted for want of memory on the node: a DisruptionTarget tells", async () => {
    cluster.faults.evictByKubelet(ns, await start("pressure"), { pressure: true });
    await failed("pressure");
    expect(condition("pressure", "DisruptionTarget")).toMatchObject({ status: "True", reason: "TerminationByKubelet" });
  });

  const disruptions: [string, string, string, (pod: string) => unknown][] = [
    ["evicted", "EvictionByEvictionAPI", "Eviction API: evicting", (pod) => call(cluster, "POST", `${pods(ns)}/${pod}/eviction`, {})],
    ["drained", "EvictionByEvictionAPI", "Eviction API: evicting", (pod) => cluster.faults.evict(ns, pod)],
    [
      "preempted",
      "PreemptionByScheduler",
      "default-scheduler: preempting to accommodate a higher priority pod",
      (pod) => cluster.faults.preempt(ns, pod),
    ],
  ];
  test.each(disruptions)("%s", async (name, reason, message, act) => {
    await act(await start(name));
    await gone(name);
    await failed(name);
    expect(podTransitions(podLog, name).slice(2)).toEqual([
      "Running running",
      `Running running ${reason}`,
      `Running running deleting ${reason}`,
      `Failed terminated:Error(143) deleting ${reason}`,
      "deleted",
    ]);
    const last = podLog.events.filter(({ object }) => object.metadata.labels?.["job-name"] === name).at(-1)!.object;
    expect(last.status.conditions?.[0]).toMatchObject({ type: "DisruptionTarget", status: "True", reason, message });
  });

  test("force-deleted: gone at once, last seen running; the process ends too", async () => {
    const pod = await start("forced");
    const pid = cluster.podPid(ns, pod)!;
    cluster.faults.deletePod(ns, pod, { gracePeriodSeconds: 0 });
    await gone("forced");
    await failed("forced");
    expect(podTransitions(podLog, "forced").slice(2)).toEqual(["Running running", "Running running deleting", "deleted"]);
    await until(() => cluster.podPid(ns, pod) === undefined, "the process's end");
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  test("pod deleted by hand: no DisruptionTarget", async () => {
    cluster.faults.deletePod(ns, await start("by-hand"));
    await gone("by-hand");
    await failed("by-hand");
    expect(podTransitions(podLog, "by-hand").slice(3)).toEqual([
      "Running running deleting",
      "Failed terminated:Error(143) deleting",
      "deleted",
    ]);
  });

  test("Job deleted by hand", async () => {
    await start("job-by-hand");
    cluster.faults.deleteJob(ns, "job-by-hand");
    await gone("job-by-hand");
    expect(jobTransitions(jobLog, "job-by-hand").at(-1)).toBe("deleted");
  });
});
