import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunRequest } from "@paperclip-k8s/engine";
import { openCluster } from "@paperclip-k8s/kube";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Bed, startBed } from "../bed.ts";
import { calm } from "../calm.ts";
import { finishRun, gatedScript, type RunOptions, startRun } from "../run.ts";

// What a pod keeps an agent from: the embedded cluster's pods are processes of this machine, without a root filesystem or namespaces of their own.

const cluster = openCluster();
const name = `suite-${randomBytes(4).toString("hex")}`;
const classes = { runtime: `/apis/node.k8s.io/v1/runtimeclasses`, priority: `/apis/scheduling.k8s.io/v1/priorityclasses` };
let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
  await cluster.admin.request("POST", classes.runtime, { metadata: { name }, handler: "runc" });
  await cluster.admin.request("POST", classes.priority, { metadata: { name }, value: 7, preemptionPolicy: "Never" });
});
afterEach(() => calm(bed));
afterAll(async () => {
  for (const path of Object.values(classes)) await cluster.admin.request("DELETE", `${path}/${name}`);
  await bed.stop();
  cluster.close();
});

const withTmp = (request: RunRequest): RunRequest => ({
  ...request,
  env: { ...request.env, plain: { HOME: "/agent/home", TMPDIR: "/agent/tmp" } },
  volumes: {
    ...request.volumes,
    scratch: [...request.volumes.scratch, { name: "tmp", mountPath: "/agent/tmp", alsoAt: ["/tmp"], sizeLimit: "1Gi" }],
  },
});

const TRY_TO_WRITE = `const { writeFileSync, existsSync } = require("node:fs");
  const attempt = (folder) => { try { writeFileSync(folder + "/probe", "x"); return "written"; } catch (error) { return error.code; } };
  const folders = ["", "/usr/local/bin", "/etc", "/home/agent", "/agent/home", "/agent/tmp", "/tmp", "/dev/shm", process.cwd()];
  console.log(JSON.stringify(folders.map(attempt)), require("node:os").tmpdir());`;

describe("the root filesystem", () => {
  test("is read-only; home, temporary folders and the volume are not", async () => {
    const { output } = await finishRun(bed, { script: TRY_TO_WRITE, change: withTmp });
    const refused = Array(4).fill("EROFS");
    expect(output.toString()).toBe(`${JSON.stringify([...refused, ...Array(5).fill("written")])} /agent/tmp\n`);
  });

  test("is writable where the operator wants it so", async () => {
    const pod = { runtimeClassName: null, hostUsers: null, priorityClassName: null, readOnlyRootFilesystem: false, annotations: {} };
    const { output } = await finishRun(bed, { script: TRY_TO_WRITE, change: (request) => ({ ...withTmp(request), pod }) });
    expect(output.toString()).not.toContain("EROFS");
  });
});

test("runtime class, priority class and annotations are those of the operator", async () => {
  const pod = {
    runtimeClassName: name,
    hostUsers: null,
    priorityClassName: name,
    readOnlyRootFilesystem: true,
    annotations: { "suite.test/forced": "yes" },
  };
  const { script, release } = gatedScript(bed);
  const run = startRun(bed, { script, change: (request) => ({ ...request, pod }) });
  await run.saw("on\n");
  const own = await run.pod();
  // The pod of the test before may still be on its way out.
  const seen = (await bed.list("pods")).find(({ metadata }) => metadata.name === own);
  expect(seen).toMatchObject({
    metadata: { annotations: { "suite.test/forced": "yes" } },
    spec: { runtimeClassName: name, priorityClassName: name, priority: 7 },
  });
  await release();
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("a user namespace of its own is asked for; whether there is one is up to the node", async () => {
  const pod = { runtimeClassName: null, hostUsers: false, priorityClassName: null, readOnlyRootFilesystem: true, annotations: {} };
  const run = startRun(bed, { script: "", change: (request) => ({ ...request, pod }) });
  const asked = async () => (await bed.list("pods")).map(({ spec }) => (spec as { hostUsers?: boolean }).hostUsers);
  await expect.poll(asked).toEqual([false]);
  run.cancel();
  await run.done;
});

describe("processes", () => {
  const LIST = `const { readdirSync, readFileSync } = require("node:fs");
    for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)))
      console.log(pid, readFileSync("/proc/" + pid + "/cmdline", "utf8").replaceAll("\\0", " ").slice(0, 60));`;

  test("the runner is the first of them, and all are the run's own", async () => {
    const { output } = await finishRun(bed, { script: LIST });
    const lines = output.toString().trim().split("\n");
    expect(lines[0]).toMatch(/^1 node \/run\/agent-input\/runner\.cjs /);
    for (const line of lines) expect(line).toMatch(/^\d+ (\S*node) /);
  });

  test("of another container in the pod, such as a webhook adds, are not seen", async () => {
    const { script, release } = gatedScript(bed);
    const run = startRun(bed, { script });
    await run.saw("on\n");
    const jobs = `/apis/batch/v1/namespaces/${bed.namespace}/jobs`;
    type Template = { spec: { template: { spec: { containers: Record<string, unknown>[] } } } };
    const { spec } = await cluster.admin.request<Template>("GET", `${jobs}/${await run.job()}`);
    const [main] = spec.template.spec.containers;
    const look = `setTimeout(() => { ${LIST} }, 2000)`;
    const sidecar = { ...main, name: "sidecar", command: ["sleep", "86399"], volumeMounts: [] };
    const pods = `/api/v1/namespaces/${bed.namespace}/pods`;
    const meshed = `meshed-${randomBytes(4).toString("hex")}`;
    const containers = [{ ...main, command: ["node", "-e", look] }, sidecar];
    await cluster.admin.request("POST", pods, { metadata: { name: meshed }, spec: { ...spec.template.spec, containers } });
    const log = () => cluster.admin.request<string>("GET", `${pods}/${meshed}/log?container=agent`).catch(() => null);
    await expect.poll(async () => String(await log()).includes(" node -e"), { interval: 500 }).toBe(true);
    expect(await log()).toMatch(/^1 node -e/);
    expect(await log()).not.toContain("86399");
    await cluster.admin.request("DELETE", `${pods}/${meshed}`, { gracePeriodSeconds: 0 });
    await release();
    await run.done;
  });

  test("cannot kill the runner", async () => {
    const script = `for (const signal of ["SIGKILL", "SIGSTOP"]) process.kill(process.ppid, signal); console.log("still here")`;
    const { outcome, output } = await finishRun(bed, { script });
    expect(output.toString()).toBe("still here\n");
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { proof: "end-record" } });
  });

  test("that left the CLI's session are over when the run is", async () => {
    const file = `${bed.data}/beats`;
    const beat = `process.on("SIGTERM", () => {}); setInterval(() => require("node:fs").appendFileSync(${JSON.stringify(file)}, "x"), 10)`;
    const script = `const child = require("node:child_process").spawn("node", ["-e", ${JSON.stringify(beat)}], { detached: true, stdio: "ignore" });
      child.unref(); const t = setInterval(() => { if (require("node:fs").existsSync(${JSON.stringify(file)})) { clearInterval(t); console.log("x"); } }, 20);`;
    const { outcome } = await finishRun(bed, { script });
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { endRecord: { leftoversEnded: true } } });
    const { size } = statSync(file);
    // Long enough for a hundred beats of a process that lives.
    await sleep(1000);
    expect(statSync(file).size).toBe(size);
  });
});

describe("too much on the node's disk", () => {
  const fill = (path: string): RunOptions["script"] =>
    `require("node:fs").writeFileSync(${JSON.stringify(path)}, Buffer.alloc(60e6, 1)); console.log("full"); setInterval(() => {}, 1000)`;

  test("altogether: the kubelet ends the pod, and the result says so", async () => {
    const { outcome } = await finishRun(bed, {
      script: fill("/agent/home/fill"),
      change: (request) => ({
        ...request,
        resources: { ...request.resources, limits: { ...request.resources.limits, "ephemeral-storage": "20Mi" } },
      }),
    });
    expect(outcome).toMatchObject({
      kind: "killed",
      by: "eviction",
      message: expect.stringMatching(/the kubelet of node \S+ evicted the pod: .*ephemeral.*20Mi/),
      remedy: expect.stringContaining("limits.ephemeralStorage"),
    });
  });

  test("in one folder", async () => {
    const scratch = [{ name: "home", mountPath: "/agent/home", sizeLimit: "10Mi" }];
    const { outcome } = await finishRun(bed, {
      script: fill("/agent/home/fill"),
      change: (request) => ({ ...request, volumes: { ...request.volumes, scratch } }),
    });
    expect(outcome).toMatchObject({ kind: "killed", by: "eviction", remedy: "the run must keep less in volume home" });
  });
});
