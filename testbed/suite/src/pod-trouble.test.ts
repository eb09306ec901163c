import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { finishRun, gatedScript, type RunHandle, type RunOptions, startRun } from "./run.ts";

// What can happen to a pod: before it starts, while it runs, and to its node.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const FOREVER = `process.on("SIGTERM", () => process.exit(143)); console.log("on"); setInterval(() => {}, 1000)`;
const short = {
  timeouts: { schedule: 1500, imagePull: 1500, containerConfig: 1500, noPod: 2500, events: 300, nodeLoss: 1500, podOutlivesJob: 4000 },
};

describe("a pod that does not start", () => {
  test("a missing image is named, and fails after the timeout", async () => {
    const run = startRun(bed, {
      script: "",
      engine: short,
      change: (request) => ({ ...request, container: { ...request.container, image: bed.images.missing } }),
    });
    await expect.poll(() => run.status.find((line) => line.text.includes(bed.images.missing))).toBeTruthy();
    expect((await run.done).outcome).toMatchObject({
      kind: "never-started",
      cause: "image",
      message: expect.stringContaining(bed.images.missing),
    });
  });

  test("an image name that is none fails at once", async () => {
    // Others have a minute; here they would have for ever.
    const { outcome } = await finishRun(bed, {
      script: "",
      engine: { timeouts: { imagePull: 36e5 } },
      change: (request) => ({ ...request, container: { ...request.container, image: "Not An Image" } }),
    });
    expect(outcome).toMatchObject({ kind: "never-started", cause: "image" });
  });

  test("no node for it", async () => {
    const { outcome } = await finishRun(bed, {
      script: "",
      engine: short,
      change: (request) => ({ ...request, scheduling: { ...request.scheduling, nodeSelector: { disk: "huge" } } }),
    });
    expect(outcome).toMatchObject({
      kind: "never-started",
      cause: "unschedulable",
      message: expect.stringContaining("nodes are available"),
    });
  });

  test("a node that comes in time is waited for", async () => {
    const fault = await bed.faults.unschedulable();
    const run = startRun(bed, { script: `console.log("late")`, engine: { timeouts: { schedule: 8000 } } });
    await expect.poll(() => run.status.some((line) => line.text.includes("not scheduled yet"))).toBe(true);
    await fault.undo();
    expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  });

  test("a claim that is not there is named", async () => {
    const volumes = { shared: { claimName: "typo", mountPath: bed.data, subPath: null }, scratch: [] };
    const { outcome } = await finishRun(bed, { script: "", engine: short, change: (request) => ({ ...request, volumes }) });
    expect(outcome).toMatchObject({ kind: "never-started", cause: "unschedulable", message: expect.stringContaining('"typo" not found') });
  });

  test("environment from a Secret that is not there", async () => {
    const references = [{ name: "KEY", valueFrom: { secretKeyRef: { name: "absent", key: "k" } } }];
    const { outcome } = await finishRun(bed, {
      script: "",
      engine: short,
      change: (request) => ({ ...request, env: { ...request.env, references } }),
    });
    expect(outcome).toMatchObject({
      kind: "never-started",
      cause: "container-config",
      message: expect.stringContaining('"absent" not found'),
    });
  });

  test.each(["quota", "service-account"] as const)("no pod at all: %s", async (why) => {
    const fault = await bed.faults.noPods(why);
    const serviceAccountName = why === "quota" ? null : "absent";
    const { outcome } = await finishRun(bed, {
      script: "",
      engine: short,
      change: (request) => ({ ...request, scheduling: { ...request.scheduling, serviceAccountName } }),
    });
    await fault.undo();
    expect(outcome).toMatchObject({
      kind: "never-started",
      cause: "no-pod",
      message: expect.stringContaining(why === "quota" ? "exceeded quota" : "service account"),
    });
  });

  test("a runtime that is not in the image", async () => {
    const { outcome } = await finishRun(bed, {
      script: "",
      change: (request) => ({ ...request, container: { ...request.container, runtime: ["no-node"] } }),
    });
    expect(outcome).toMatchObject({ kind: "never-started", cause: "runtime-missing", message: expect.stringContaining("no-node") });
  });
});

describe("a pod that is taken away", () => {
  async function whileRunning(act: (run: RunHandle) => Promise<void>, options: RunOptions = {}) {
    const run = startRun(bed, { script: FOREVER, engine: short, ...options });
    await run.saw("on\n");
    // The kubelet has reported the running container before it can lose it.
    await expect.poll(() => run.status.some((line) => line.text.includes("container running"))).toBe(true);
    await act(run);
    return run.done;
  }

  test.each(["all", "child"] as const)("out of memory (%s)", async (victim) => {
    const trigger = `${bed.data}/${randomUUID()}`;
    const script = `const hoard = []; const eat = () => require("fs").existsSync(${JSON.stringify(trigger)}) && hoard.length < 20 && hoard.push(Buffer.alloc(50_000_000, 1));
      setInterval(eat, 50); ${FOREVER}`;
    const { outcome } = await whileRunning(async (run) => bed.faults.oom(await run.pod(), { trigger, victim }), {
      script,
      change: (request) => ({ ...request, resources: { ...request.resources, limits: { cpu: "2", memory: "300Mi" } } }),
    });
    expect(outcome).toMatchObject({ kind: "killed", by: "oom" });
  });

  test("evicted through the API", async () => {
    const { outcome, output } = await whileRunning(async (run) => bed.faults.evict(await run.pod()));
    expect(outcome).toMatchObject({ kind: "killed", by: "eviction" });
    expect(output.toString()).toBe("on\n");
  });

  test("preempted", async () => {
    const { outcome } = await whileRunning(async (run) => bed.faults.preempt(await run.pod()), {
      change: (request) => ({ ...request, resources: { ...request.resources, requests: { cpu: "1200m", memory: "64Mi" } } }),
    });
    expect(outcome).toMatchObject({ kind: "killed", by: "preemption" });
  });

  test("deleted by hand, plainly and by force", async () => {
    const plain = await whileRunning(async (run) => bed.faults.deletePod(await run.pod()));
    expect(plain.outcome).toMatchObject({ kind: "deleted", what: "pod", exitCode: 143 });
    const forced = await whileRunning(async (run) => bed.faults.deletePod(await run.pod(), { gracePeriodSeconds: 0 }));
    expect(forced.outcome).toMatchObject({ kind: "deleted", what: "pod" });
  });

  test.each(["Background", "Foreground"] as const)("its Job deleted by hand (%s)", async (propagation) => {
    const { outcome } = await whileRunning(async (run) => bed.faults.deleteJob(await run.job(), propagation));
    expect(outcome).toMatchObject({ kind: "deleted", what: "job" });
  });

  test("the Job's deadline", async () => {
    const limits = { timeoutSec: 0, maxRunSec: 1, graceSec: 1, scheduleTimeoutSec: -609, ttlSeconds: 600, volumeWaitSec: 10 };
    const run = startRun(bed, {
      script: FOREVER,
      engine: { timeouts: { schedule: 60_000 } },
      change: (request) => ({ ...request, limits }),
    });
    expect((await run.done).outcome).toMatchObject({ kind: "timed-out", by: "deadline" });
  });

  test("its node is lost, others are there: the Job is kept", async () => {
    const run = startRun(bed, { script: FOREVER, engine: short });
    await run.saw("on\n");
    await expect.poll(() => run.status.some((line) => line.text.includes("container running"))).toBe(true);
    const fault = await bed.faults.loseNode({ taint: true });
    const { outcome } = await run.done;
    expect(outcome).toMatchObject({ kind: "killed", by: "node-loss" });
    expect(await run.jobs()).toBe(1);
    await fault.undo();
  });

  test("its node is lost and returns: the run goes on", async () => {
    const { script, release } = gatedScript(bed);
    const run = startRun(bed, { script });
    await run.saw("on\n");
    const fault = await bed.faults.loseNode();
    await release();
    const { outcome, output } = await run.done;
    await fault.undo();
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    expect(output.toString()).toBe("on\noff\n");
  });
});
