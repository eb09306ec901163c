import { expect } from "vitest";
import type { ClusterStage } from "../../src/cluster/stage.ts";
import type { Run } from "../../src/host/company.ts";
import { HANG_MS, until } from "../../src/wait.ts";
import { type LiveTasks, startTasks, type Task } from "../agents/live-tasks.ts";

/**
 * `kubectl rollout restart` of the host inside the real cluster, with the preStop hook of deploy/: agents notice nothing, nobody has to act.
 * Each Job is taken over once and finishes its issue.
 */
export async function rolloutUnderLiveRuns(stage: ClusterStage, count: number): Promise<void> {
  const { deployed, company } = stage;
  const live = await startTasks(stage, count);
  const first = await Promise.all(live.tasks.map(live.runsOf));
  expect(first.map((runs) => runs.map(({ status }) => status))).toEqual(Array(count).fill(["running"]));
  const old = await serverPod(stage);
  const report = stopwatch();

  await deployed.kubectl("rollout", "restart", "deployment/paperclip");
  await until("the old server's end", async () => (await serverPod(stage)) !== old);
  report("the old server is gone");
  const before = live.tasks.map((task) => live.written(task).length);
  await deployed.kubectl("rollout", "status", "deployment/paperclip", "--timeout=300s");
  report("the new one is ready");
  live.tasks.forEach((task, index) => {
    expect(live.written(task).length, `lines of ${task.name} while there was no server`).toBeGreaterThan(before[index]!);
  });
  await each(live, "taken over", async (run) => (await textOf(stage, run)).includes("adopted Job"));
  report("every run is taken over");
  await live.finish();
  await each(live, "succeeded", async ({ status }) => status === "succeeded");
  report("every run has succeeded");

  for (const task of live.tasks) {
    expect(await company.issue(task.issue.id)).toMatchObject({ status: "done", executionBlocker: null });
    await ranOnce(stage, live, task);
  }
  const ids = [...new Set(live.tasks.map(({ agent }) => agent.id))];
  const events = ["get", "events", "--field-selector=reason=SuccessfulCreate,involvedObject.kind=Job"];
  const created = await deployed.agents(...events, "-o", "jsonpath={.items[*].involvedObject.name}");
  const theirs = created.split(" ").filter((job) => ids.some((id) => job.includes(id.slice(0, 13))));
  expect(theirs, "Jobs that made pods, by pod").toHaveLength(count);
  const agents = ["jobs,pods,secrets", "-l", `paperclip.io/agent-id in (${ids})`, "-o", "name"];
  await expect.poll(() => deployed.agents("get", ...agents), { timeout: HANG_MS, interval: 500 }).toBe("");
  report("nothing of them is left");
}

/** One Job, one pod, one CLI; what it wrote stands once and in order in the log of the run that finished. */
async function ranOnce(stage: ClusterStage, live: LiveTasks, task: Task): Promise<void> {
  // A machine so busy that the drain outlasts the host's half minute shows a retry that was put off, too.
  const runs = await live.runsOf(task);
  const [first, finished] = [runs[0]!, runs.at(-1)!];
  expect(first).toMatchObject({ status: "failed", errorCode: "k8s_detached", usageJson: null });
  expect(finished).toMatchObject({ status: "succeeded", errorCode: null, usageJson: { usageSource: "per_run" } });
  runs.slice(1).forEach((run, index) => {
    expect(run.retryOfRunId).toBe(runs[index]!.id);
  });
  const logs = await Promise.all(runs.map((run) => textOf(stage, run)));
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
    await until(`${task.name} ${what}`, () => ask().catch(() => false));
  }
}

const textOf = async ({ company }: ClusterStage, { id }: Run): Promise<string> =>
  (await company.log(id)).map(({ chunk }) => chunk).join("");

/** The newest pod of the server, also one that is going. */
const serverPod = ({ deployed }: ClusterStage): Promise<string> =>
  deployed.kubectl("get", "pods", "-l", "app.kubernetes.io/component=server", "-o", "jsonpath={.items[*].metadata.name}");

function stopwatch(): (what: string) => void {
  const begun = Date.now();
  return (what) => console.log(`rollout +${((Date.now() - begun) / 1000).toFixed(1)} s: ${what}`);
}
