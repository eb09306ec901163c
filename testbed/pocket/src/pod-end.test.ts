import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
  openWatch,
  podOf,
  pods,
  podTransitions,
  runningPod,
  until,
  type WatchLog,
} from "./test-client.ts";

// How pods and Jobs end, against what Kubernetes 1.34.4 showed in the same cases.

let cluster: Pocket;
let podLog: WatchLog<Pod>;
let jobLog: WatchLog<Job>;
const ns = "ends";

beforeAll(async () => {
  cluster = await startPocket({ images, timings: { podBackoff: 100, running: 250 } });
  cluster.createNamespace(ns);
  podLog = await openWatch<Pod>(cluster, pods(ns));
  jobLog = await openWatch<Job>(cluster, jobs(ns));
});
afterAll(() => cluster.stop());

const terminated = (job: string) => podOf(cluster, ns, job)?.status.containerStatuses?.[0]?.state.terminated;
const backoff = { reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
const failedEnd = ["FailureTarget:BackoffLimitExceeded", "failed=1 FailureTarget:BackoffLimitExceeded Failed:BackoffLimitExceeded"];
const conditionsOf = (pod: Pod | undefined) =>
  (pod?.status.conditions ?? []).map((c) => [c.type, c.status, c.reason].filter(Boolean).join(" "));

describe.concurrent("a container that ends by itself", () => {
  test("exit 0, never seen running", async () => {
    await createJob(cluster, ns, "completed", `printf '{"exitCode":0}' > $TERMINATION_LOG`);
    const job = await endedJob(cluster, ns, "completed");
    expect(podTransitions(podLog, "completed")).toEqual([
      "Pending",
      "Pending waiting:ContainerCreating",
      "Pending terminated:Completed(0)",
      "Succeeded terminated:Completed(0)",
    ]);
    const success = { status: "True", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
    expect(job.status).toMatchObject({
      conditions: [
        { type: "SuccessCriteriaMet", ...success },
        { type: "Complete", ...success },
      ],
      succeeded: 1,
      terminating: 0,
      ready: 0,
    });
    expect(job.status).not.toHaveProperty("active");
    expect(job.status.completionTime).toBeDefined();
    await until(() => jobTransitions(jobLog, "completed").length === 4, "the watch");
    expect(jobTransitions(jobLog, "completed")).toEqual([
      "nothing",
      "active=1",
      "SuccessCriteriaMet:CompletionsReached",
      "succeeded=1 SuccessCriteriaMet:CompletionsReached Complete:CompletionsReached",
    ]);
    expect(terminated("completed")).toMatchObject({ exitCode: 0, reason: "Completed", message: '{"exitCode":0}' });
    expect(conditionsOf(podOf(cluster, ns, "completed"))).toEqual([
      "PodReadyToStartContainers False",
      "Initialized True PodCompleted",
      "Ready False PodCompleted",
      "ContainersReady False PodCompleted",
      "PodScheduled True",
    ]);
  });

  test("running, then exit 3: the container's end shows before the phase, the phase before the Job", async () => {
    const { command, letGo } = gatedCommand("exit 3");
    await createJob(cluster, ns, "exit-3", command);
    const pod = await runningPod(cluster, ns, "exit-3");
    letGo();
    expect(conditionsOf(pod)).toEqual([
      "PodReadyToStartContainers True",
      "Initialized True",
      "Ready True",
      "ContainersReady True",
      "PodScheduled True",
    ]);
    expect(pod.metadata.finalizers).toEqual(["batch.kubernetes.io/job-tracking"]);
    expect(pod.status.containerStatuses).toMatchObject([
      { name: "agent", ready: true, restartCount: 0, image: "agent:1", state: { running: {} } },
    ]);
    const job = await endedJob(cluster, ns, "exit-3");
    expect(podTransitions(podLog, "exit-3").slice(2)).toEqual([
      "Running running",
      "Running terminated:Error(3)",
      "Failed terminated:Error(3)",
    ]);
    expect(job.status).toMatchObject({
      failed: 1,
      conditions: [
        { type: "FailureTarget", ...backoff },
        { type: "Failed", ...backoff },
      ],
    });
    await until(() => jobTransitions(jobLog, "exit-3").at(-1) === failedEnd[1], "the watch");
    expect(jobTransitions(jobLog, "exit-3").slice(2)).toEqual(failedEnd);
    expect(podOf(cluster, ns, "exit-3")?.metadata.finalizers).toBeUndefined();
  });

  test("the end of the log is the message, but only where the policy says so and nothing was written", async () => {
    const fallback = { container: { terminationMessagePolicy: "FallbackToLogsOnError" } } as const;
    await createJob(cluster, ns, "fallback", "seq 1 200; echo last log line; exit 3", fallback);
    await createJob(cluster, ns, "written", "echo log; echo written > $TERMINATION_LOG; exit 3", fallback);
    await createJob(cluster, ns, "file-only", "echo log; exit 3");
    await createJob(cluster, ns, "fallback-ok", "echo log", fallback);
    await Promise.all(["fallback", "written", "file-only", "fallback-ok"].map((name) => endedJob(cluster, ns, name)));
    expect(terminated("fallback")?.message).toMatch(/^122\n(\d+\n)+200\nlast log line\n$/);
    expect(terminated("written")?.message).toBe("written\n");
    expect(terminated("file-only")).not.toHaveProperty("message");
    expect(terminated("fallback-ok")).not.toHaveProperty("message");
  });

  test("a termination message is cut at 4096 bytes", async () => {
    await createJob(cluster, ns, "long", "head -c 5000 /dev/zero | tr '\\0' x > $TERMINATION_LOG");
    await endedJob(cluster, ns, "long");
    expect(terminated("long")?.message).toBe("x".repeat(4096));
  });

  test("killed by a signal: 128 + its number", async () => {
    await createJob(cluster, ns, "signal", "kill -KILL $$$$");
    await endedJob(cluster, ns, "signal");
    expect(terminated("signal")).toMatchObject({ exitCode: 137, reason: "Error" });
  });

  test("a command that does not exist", async () => {
    await createJob(cluster, ns, "start-error", "", { container: { command: ["/no/such/binary"] } });
    await createJob(cluster, ns, "not-in-path", "", { container: { command: ["nosuchprogram"] } });
    await endedJob(cluster, ns, "start-error");
    const oci =
      "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ";
    expect(terminated("start-error")).toMatchObject({
      exitCode: 128,
      reason: "StartError",
      message: `${oci}exec: "/no/such/binary": stat /no/such/binary: no such file or directory: unknown`,
      startedAt: "1970-01-01T00:00:00Z",
    });
    expect(podTransitions(podLog, "start-error").slice(2)).toEqual([
      "Pending terminated:StartError(128)",
      "Failed terminated:StartError(128)",
    ]);
    await endedJob(cluster, ns, "not-in-path");
    expect(terminated("not-in-path")?.message).toBe(`${oci}exec: "nosuchprogram": executable file not found in $PATH: unknown`);
  });

  test("init containers run in turn; a failed one ends the pod", async () => {
    const init = (name: string, script: string) => ({ name, image: "agent:1", command: ["sh", "-c", script] });
    const marker = { volumes: [{ name: "v", emptyDir: {} }] };
    const mount = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const first = { ...init("first", "echo one > $1"), ...mount };
    first.command.push("x", "/v/f");
    await createJob(cluster, ns, "init", 'cat "$1"', {
      pod: { ...marker, initContainers: [first] },
      container: { ...mount, args: ["x", "/v/f"] },
    });
    await createJob(cluster, ns, "init-failed", "true", { pod: { initContainers: [init("setup", "exit 5")] } });
    await endedJob(cluster, ns, "init");
    expect(cluster.podLog(ns, podOf(cluster, ns, "init")!.metadata.name)).toBe("one\n");
    await endedJob(cluster, ns, "init-failed");
    const { status } = podOf(cluster, ns, "init-failed")!;
    expect(status.initContainerStatuses).toMatchObject([{ name: "setup", state: { terminated: { exitCode: 5, reason: "Error" } } }]);
    expect(status.containerStatuses).toMatchObject([{ state: { waiting: { reason: "PodInitializing" } } }]);
    expect(status.conditions?.find(({ type }) => type === "Initialized")).toMatchObject({
      status: "False",
      reason: "ContainersNotInitialized",
      message: "containers with incomplete status: [setup]",
    });
  });

  test("a sidecar runs beside the others and is restarted; the pod ends with its container, and then the sidecar does", async () => {
    const beside = {
      name: "beside",
      image: "agent:1",
      command: [
        "sh",
        "-c",
        "trap 'exit 0' TERM; [ -e $0.once ] || { touch $0.once; exit 4; }; touch $0.again; while :; do sleep 0.05; done",
        "/v/f",
      ],
      restartPolicy: "Always",
      volumeMounts: [{ name: "v", mountPath: "/v" }],
    };
    await createJob(cluster, ns, "sidecar", 'until [ -e "$1.again" ]; do sleep 0.05; done', {
      pod: { volumes: [{ name: "v", emptyDir: {} }], initContainers: [beside] },
      container: { args: ["x", "/v/f"], volumeMounts: [{ name: "v", mountPath: "/v" }] },
    });
    const job = await endedJob(cluster, ns, "sidecar");
    expect(job.status).toMatchObject({ succeeded: 1 });
    const { status } = podOf(cluster, ns, "sidecar")!;
    expect(status).toMatchObject({
      phase: "Succeeded",
      containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
      initContainerStatuses: [{ state: { terminated: {} }, lastState: { terminated: { exitCode: 4 } }, restartCount: 1 }],
    });
  });

  test("backoffLimit 1 makes two pods", async () => {
    await createJob(cluster, ns, "retry", "exit 3", { spec: { backoffLimit: 1 } });
    const job = await endedJob(cluster, ns, "retry");
    expect(job.status.failed).toBe(2);
    expect(cluster.list("pods", ns).filter((pod) => pod.metadata.labels?.["job-name"] === "retry")).toHaveLength(2);
  });
});
