import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type ClusterStage, openClusterStage } from "../src/cluster/stage.ts";
import type { Run } from "../src/company.ts";
import { VERSIONS } from "../src/release.ts";
import { until } from "../src/wait.ts";
import { type LiveTasks, startTasks, type Task } from "./live-tasks.ts";

// `kubectl rollout restart` of the newest host inside the real cluster, with the preStop hook of deploy/: agents notice nothing, nobody has to act.

const COUNT = process.env.LONG ? 10 : 3;
let stage: ClusterStage;
beforeAll(async () => {
  stage = await openClusterStage(inject("packed"), { version: VERSIONS[0], say: (line) => console.log(line) });
});
afterAll(() => stage?.stop());

test(`a rollout under ${COUNT} live runs: each Job is taken over once and finishes its issue`, async () => {
  const { deployed, company } = stage;
  const live = await startTasks(stage, COUNT);
  const first = await Promise.all(live.tasks.map(live.runsOf));
  expect(first.map((runs) => runs.map(({ status }) => status))).toEqual(Array(COUNT).fill(["running"]));
  const old = await serverPod();
  const tell = stopwatch();

  await deployed.kubectl("rollout", "restart", "deployment/paperclip");
  await until("the old server's end", async () => (await serverPod()) !== old, 90);
  tell("the old server is gone");
  const before = live.tasks.map((task) => live.written(task).length);
  await deployed.kubectl("rollout", "status", "deployment/paperclip", "--timeout=180s");
  tell("the new one is ready");
  live.tasks.forEach((task, index) => {
    expect(live.written(task).length, `lines of ${task.name} while there was no server`).toBeGreaterThan(before[index]!);
  });
  await each(live, "taken over", async (run) => (await textOf(run)).includes("adopted Job"));
  tell("every run is taken over");
  await live.finish();
  await each(live, "succeeded", async ({ status }) => status === "succeeded");
  tell("every run has succeeded");

  for (const task of live.tasks) {
    expect(await company.issue(task.issue.id)).toMatchObject({ status: "done", executionBlocker: null });
    await ranOnce(live, task);
  }
  const created = await deployed.kubectl("get", "events", "--field-selector=reason=SuccessfulCreate,involvedObject.kind=Job", "-o", "name");
  expect(created.trim().split("\n"), "pods ever made by Jobs").toHaveLength(COUNT);
  const agents = ["jobs,pods,secrets", "-l", "app.kubernetes.io/component=agent-job", "-o", "name"];
  await expect.poll(() => deployed.kubectl("get", ...agents), { timeout: 30_000, interval: 500 }).toBe("");
  tell("nothing of them is left");
}, 400_000);

/** One Job, one pod, one CLI; what it wrote stands once and in order in the log of the run that finished. */
async function ranOnce(live: LiveTasks, task: Task): Promise<void> {
  // A machine so busy that the drain outlasts the host's half minute shows a retry that was put off, too.
  const runs = await live.runsOf(task);
  const [first, finished] = [runs[0]!, runs.at(-1)!];
  expect(first).toMatchObject({ status: "failed", errorCode: "k8s_detached", usageJson: null });
  expect(finished).toMatchObject({ status: "succeeded", errorCode: null, usageJson: { usageSource: "per_run" } });
  runs.slice(1).forEach((run, index) => {
    expect(run.retryOfRunId).toBe(runs[index]!.id);
  });
  const logs = await Promise.all(runs.map(textOf));
  expect(logs.join("").match(/ accepted, /g), "Jobs started").toHaveLength(1);
  const written = live.written(task);
  expect(new Set(written).size, `pods and processes of ${task.name}: ${written}`).toBe(1);
  const log = logs.at(-1)!;
  expect([...log.matchAll(/line (\d+) of /g)].map(([, number]) => Number(number))).toEqual(written.map((_, index) => index + 1));
  expect(log.match(/CLI started.*/g)).toEqual([`CLI started by run ${first.id}`]);
}

/** Until it is so of the newest run of each task; a server that is away has no answer yet. */
async function each(live: LiveTasks, what: string, isSo: (run: Run) => Promise<boolean>): Promise<void> {
  for (const task of live.tasks) {
    const ask = async () => {
      const [, ...later] = await live.runsOf(task);
      return later.length > 0 && (await isSo(later.at(-1)!));
    };
    await until(`${task.name} ${what}`, () => ask().catch(() => false), 180);
  }
}

const textOf = async ({ id }: Run): Promise<string> => (await stage.company.log(id)).map(({ chunk }) => chunk).join("");

/** The newest pod of the server, also one that is going. */
const serverPod = (): Promise<string> =>
  stage.deployed.kubectl("get", "pods", "-l", "app.kubernetes.io/component=server", "-o", "jsonpath={.items[*].metadata.name}");

function stopwatch(): (what: string) => void {
  const begun = Date.now();
  return (what) => console.log(`rollout +${((Date.now() - begun) / 1000).toFixed(1)} s: ${what}`);
}
