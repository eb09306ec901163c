import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type KubeCluster, openCluster, otherNode, watchNode } from "./index.ts";
import { difference, type MachineState, machineState } from "./leftovers.ts";
import { keeper } from "./node-namespaces.ts";
import { processesOf } from "./processes.ts";
import { run } from "./run.ts";
import { type Scratch, scratch } from "./scratch.ts";
import { isNodeReady } from "./start-programs.ts";
import { until } from "./wait.ts";

// A cluster of its own, beside the one the other tests use: it is killed in every way and must leave nothing.

const env = { ...process.env, KUBE_DIR: "/var/tmp/paperclip-kube-life", KUBE_SUBNET: "10.213.79" };
const command = (...words: string[]) => run(process.execPath, [join(import.meta.dirname, "main.ts"), ...words], { env });
const sleeper = (image: string) => ({
  terminationGracePeriodSeconds: 1,
  containers: [{ name: "c", image, command: ["sleep", "3600"] }],
});

let before: MachineState;
beforeAll(async () => {
  await command("down");
  before = await machineState();
});
afterAll(() => command("down"));

/** A pod that runs, in a namespace of its own. */
async function runningPod(cluster: KubeCluster): Promise<Scratch> {
  const place = await scratch(cluster.admin);
  await place.create("pods", { metadata: { name: "pod" }, spec: sleeper(cluster.images.shell) });
  await until("the pod to run", 30, async () => (await place.pod("pod")).status.phase === "Running");
  return place;
}

async function expectNothingLeft(): Promise<void> {
  await until("nothing to be left", 10, async () => difference(before, await machineState()).length === 0).catch(() => {});
  expect(difference(before, await machineState())).toEqual([]);
}

test("up keeps a cluster that is up already, and down with a running pod leaves nothing", async () => {
  const said = await command("up");
  expect(said).toContain("export KUBECONFIG=/var/tmp/paperclip-kube-life/pki/admin.kubeconfig");
  const cluster = openCluster(env);
  await runningPod(cluster);
  cluster.close();
  const node = keeper(cluster.dir);
  await command("up");
  expect(keeper(cluster.dir)).toBe(node);
  await command("down");
  await expectNothingLeft();
  await command("down");
  expect(() => openCluster(env)).toThrow("run npm run kube:up");
});

/** Each costs two starts, so the rest is for LONG=1. */
const VICTIMS = ["containerd", "keeper", ...(process.env.LONG ? ["kube-proxy", "kubelet", "etcd"] : [])];

test.each(VICTIMS)("up works after %s was killed under a running pod", async (victim) => {
  await command("up");
  const cluster = openCluster(env);
  await runningPod(cluster);
  cluster.close();
  for (const pid of processesOf(join(cluster.dir, "bin", victim))) process.kill(pid, "SIGKILL");
  await until(`${victim} to be gone`, 5, () => processesOf(join(cluster.dir, "bin", victim)).length === 0);
  await command("up");
  const next = openCluster(env);
  await runningPod(next);
  next.close();
});

test("down works after a crash in the middle of up", async () => {
  await command("down");
  mkdirSync(join(env.KUBE_DIR, "pki"), { recursive: true });
  appendFileSync(join(env.KUBE_DIR, "cluster.json.new"), "{");
  await command("down");
  await expectNothingLeft();
  expect(readdirSync("/var/tmp")).not.toContain("paperclip-kube-life");
});

test("a lost node is noticed, its pod evicted, and all is well when it is back", { timeout: 120_000 }, async () => {
  await command("up");
  const cluster = openCluster(env);
  const place = await runningPod(cluster);
  const other = await otherNode(cluster.admin);
  const since = Date.now();
  await cluster.stopKubelet();
  await until("the pod to be marked", 60, async () => (await place.pod("pod")).metadata.deletionTimestamp);
  const seconds = (Date.now() - since) / 1000;
  expect(seconds).toBeGreaterThan(16);
  expect(seconds).toBeLessThan(40);
  const marked = await place.pod("pod");
  expect(marked.status.phase).toBe("Running");
  expect(marked.status.conditions).toContainEqual(expect.objectContaining({ type: "DisruptionTarget", reason: "DeletionByTaintManager" }));
  await cluster.startKubelet();
  await until("the pod to be gone", 30, () =>
    place.pod("pod").then(
      () => false,
      () => true,
    ),
  );
  await other.remove();
  await place.remove();
  cluster.close();
});

test("under watch, programs that die are started again and a node that hangs is repaired; what a test has stopped is left alone", {
  timeout: 180_000,
}, async () => {
  await command("up");
  const cluster = openCluster(env);
  const place = await runningPod(cluster);
  const reports: string[] = [];
  const giveUp = (error: Error) => void reports.push(error.message);
  const watch = watchNode(cluster, { report: (text) => void reports.push(text), giveUp, everyMs: 500, patienceMs: 2000 });
  const pidsOf = (name: "containerd" | "kubelet" | "kube-scheduler") => processesOf(cluster.programs[name][0]);
  for (const name of ["containerd", "kubelet", "kube-scheduler"] as const) {
    const [first] = pidsOf(name);
    process.kill(first!, "SIGKILL");
    await until(`another ${name}`, 60, () => pidsOf(name).some((pid) => pid !== first));
  }
  const [held] = pidsOf("kubelet");
  process.kill(held!, "SIGSTOP");
  await until("another kubelet", 120, () => pidsOf("kubelet").some((pid) => pid !== held));
  await until("the node", 60, () => isNodeReady(cluster.admin, cluster.nodeName));
  await cluster.stopKubelet();
  await sleep(3000);
  expect(pidsOf("kubelet")).toEqual([]);
  await cluster.startKubelet();
  expect(await watch.stop()).toEqual([
    expect.stringContaining("containerd had ended"),
    expect.stringContaining("kubelet had ended"),
    expect.stringContaining("kube-scheduler had ended"),
    expect.stringMatching(/takes no pods: .*Ready=Unknown/),
  ]);
  expect(reports).toHaveLength(4);
  expect((await place.pod("pod")).status.phase).toBe("Running");
  await place.remove();
  cluster.close();
});

test("the API server can be killed, started, held and let go; pods go on", { timeout: 120_000 }, async () => {
  await command("up");
  const cluster = openCluster(env);
  const place = await runningPod(cluster);
  await cluster.killApiServer();
  await expect(cluster.admin.request("GET", "/readyz")).rejects.toThrow(/ECONNREFUSED|socket|ECONNRESET/);
  await cluster.startApiServer();
  expect((await place.pod("pod")).status.phase).toBe("Running");

  cluster.pauseApiServer();
  const waiting = place.pod("pod");
  expect(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 3000, "silence"))])).toBe("silence");
  await cluster.resumeApiServer();
  expect((await waiting).status.phase).toBe("Running");
  await place.remove();
  cluster.close();
  await command("down");
  await expectNothingLeft();
});
