import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, test } from "vitest";
import { type Connection, connect } from "../../../packages/engine/src/kube/connection.ts";
import { createJob } from "../../../packages/engine/src/kube/writes.ts";
import { type Bed, startBed } from "./bed.ts";
import { KEYS, keyed, type RunOptions, startRun } from "./run.ts";
import { ServerProcess, type ServerRun } from "./server-process.ts";

// Keys are paths. What runs share may be set otherwise from one to the next: a whole agent instead of a task, or the other way round.

let bed: Bed;
let connection: Connection;
const servers: ServerProcess[] = [];
beforeAll(async () => {
  bed = await startBed();
  connection = await connect({ kubeconfig: bed.kubeconfig });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  connection.close();
  await bed.stop();
});

const go = (name: string) => `${bed.data}/go-${name}`;
const free = (name: string) => writeFile(go(name), "");
/** Tells when it begins and ends; ends when it is freed. */
const held = (name: string) =>
  `console.log("in " + Date.now()); const t = setInterval(() => { if (!require("node:fs").existsSync(${JSON.stringify(go(name))})) return;
   console.log("out " + Date.now()); clearInterval(t); }, 50)`;
const TIMED = `console.log("in " + Date.now()); setTimeout(() => console.log("out " + Date.now()), 500)`;

interface Span {
  readonly from: number;
  readonly to: number;
}
function spanOf(output: Buffer): Span {
  const [from = 0, to = 0] = [...output.toString().matchAll(/\d+/g)].map(Number);
  return { from, to };
}
const apart = (a: Span, b: Span) => a.to <= b.from || b.to <= a.from;

async function started(key: string, options: RunOptions = {}) {
  const name = randomUUID();
  const run = startRun(bed, keyed(key, { script: held(name), ...options }));
  await run.saw("in ");
  return { run, end: () => free(name), job: await run.job(), ended: async () => spanOf((await run.done).output) };
}
const said = ({ status }: { readonly status: readonly { readonly text: string }[] }) => status.map(({ text }) => text).join("\n");

test.concurrent("the agent's key waits for all its tasks, a task's key for its agent, and tasks for nobody", async ({ expect }) => {
  const agent = randomUUID();
  const tasks = [await started(`${agent}/one`), await started(`${agent}/two`)];
  const whole = startRun(bed, keyed(agent, { script: TIMED }));
  await expect.poll(() => said(whole)).toMatch(/waiting for Job suite-\S+ of run \S+, which holds a key that overlaps/);
  await tasks[0]?.end();
  await tasks[0]?.run.done;
  expect(whole.output().toString()).toBe("");
  await tasks[1]?.end();
  await whole.saw("in ");
  const three = startRun(bed, keyed(`${agent}/three`, { script: TIMED }));
  const stranger = startRun(bed, keyed(`${agent}-2/three`, { script: TIMED }));
  const spans = await Promise.all([whole, three].map(async ({ done }) => spanOf((await done).output)));
  const [wholeSpan, threeSpan] = spans as [Span, Span];
  for (const task of tasks) expect(apart(await task.ended(), wholeSpan)).toBe(true);
  expect(apart(wholeSpan, threeSpan)).toBe(true);
  expect(said(await stranger.done)).not.toContain("waiting for Job");
});

const counting = (name: string) =>
  `let n = 0; const t = setInterval(() => { console.log("line " + ++n);
   if (require("node:fs").existsSync(${JSON.stringify(go(name))})) { console.log("end"); clearInterval(t); } }, 100)`;

function serve(...runs: readonly ServerRun[]): ServerProcess {
  const server = new ServerProcess(bed, runs, { timeouts: { lockDecision: 1000 } });
  servers.push(server);
  return server;
}

for (const [was, is] of [
  ["/task", ""],
  ["", "/task"],
] as const)
  for (const over of [false, true])
    test.concurrent(`a restart with another setting: a Job of key "agent${was}" that is ${over ? "over" : "live"} is adopted with "agent${is}"`, async ({
      expect,
    }) => {
      const agent = randomUUID();
      const first = { runId: randomUUID(), key: `${agent}${was}`, script: counting(agent), continues: [] };
      const before = serve(first);
      await before.saw(first.runId, "line 3\n");
      await before.kill();
      const jobs = async () => (await bed.list("jobs")).filter(({ metadata }) => metadata.name.includes(agent.slice(0, 8)));
      if (over) {
        await free(agent);
        await expect.poll(async () => (await jobs())[0]?.status).toMatchObject({ succeeded: 1 });
      }
      const [job] = await jobs();
      const second = { runId: randomUUID(), key: `${agent}${is}`, script: `console.log("own prompt")`, continues: [first.runId] };
      const after = serve(second);
      await after.saw(second.runId, "line 1\n");
      await free(agent);
      const { outcome, output, status } = await after.done(second.runId);
      expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { jobUid: job?.metadata.uid, jobName: job?.metadata.name } });
      expect(output).toMatch(/^line 1\n(line \d+\n)+end\n$/);
      expect(said({ status })).toContain(`adopted Job ${bed.namespace}/${job?.metadata.name} of run ${first.runId}`);
      await expect.poll(jobs).toEqual([]);
    });

test.concurrent("of several live Jobs the one to go on with is found; the others are waited for no longer", async ({ expect }) => {
  const agent = randomUUID();
  const task = (name: string): ServerRun => ({
    runId: randomUUID(),
    key: `${agent}/${name}`,
    script: counting(`${agent}-${name}`),
    continues: [],
  });
  const [one, two] = [task("one"), task("two")];
  const before = serve(one, two);
  await before.saw(one.runId, "line 1\n");
  await before.saw(two.runId, "line 1\n");
  await before.kill();
  const next = { runId: randomUUID(), key: agent, script: `console.log("own prompt")`, continues: [one.runId] };
  const after = serve(next);
  await after.saw(next.runId, "line 1\n");
  await Promise.all([free(`${agent}-one`), free(`${agent}-two`)]);
  const { output, status } = await after.done(next.runId);
  expect(output).toMatch(/end\n$/);
  expect(said({ status })).toMatch(new RegExp(`live and are left alone: Job \\S+ of run ${two.runId}$`, "m"));
});

test.concurrent("of several live Jobs one that must not be adopted wins over one to go on with", async ({ expect }) => {
  const agent = randomUUID();
  const jobs = [await started(`${agent}/one`), await started(`${agent}/two`)];
  const [fits, blocks] = jobs;
  const next = startRun(
    bed,
    keyed(agent, {
      script: TIMED,
      onLockConflict: async ({ runId }) =>
        runId === fits?.run.request.runId
          ? { kind: "adopt" }
          : { kind: "blocked", code: "another_session", message: "it works in another session" },
    }),
  );
  expect((await next.done).outcome).toMatchObject({ kind: "blocked", code: "another_session", byRun: blocks?.run.request.runId });
  for (const { end, run } of jobs) {
    await end();
    expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  }
});

const remove = (name: string) => bed.faults.deleteJob(name, "Foreground");

test.concurrent("a caller that does not answer about a conflicting Job does not hold up a cancel", async ({ expect }) => {
  const agent = randomUUID();
  const task = await started(`${agent}/one`);
  let asked = 0;
  const onLockConflict = () => {
    asked++;
    return new Promise<never>(() => {});
  };
  const run = startRun(bed, keyed(agent, { script: TIMED, onLockConflict }));
  await expect.poll(() => asked).toBe(1);
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: true, evidence: { jobUid: null } });
  await task.end();
  await task.run.done;
});

test.concurrent("a finished Job that is kept to be looked at is in nobody's way, and stays", async ({ expect }) => {
  const agent = randomUUID();
  const kept = startRun(bed, keyed(`${agent}/one`, { script: "", change: (request) => ({ ...request, retain: true }) }));
  await kept.done;
  const name = await kept.job();
  // Its count of pods tells a moment earlier.
  const finished = async () => JSON.stringify((await bed.list("jobs")).find(({ metadata }) => metadata.name === name)?.status);
  await expect.poll(finished).toContain('"type":"Complete"');
  const { outcome, status } = await startRun(
    bed,
    keyed(agent, {
      script: "",
      onLockConflict: async ({ finished }) => (finished ? { kind: "remove", why: "on record" } : { kind: "wait" }),
    }),
  ).done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(said({ status })).not.toContain("removing");
  expect(await kept.jobs()).toBe(1);
  await remove(name);
});

test.concurrent("a Job of the agent that somebody else has made is waited for and left alone", async ({ expect }) => {
  const agent = randomUUID();
  const legacyLabels = { "suite.test/agent": agent };
  const plain = startRun(bed, {
    script: `console.log("on"); setInterval(() => {}, 1000)`,
    change: (r) => ({ ...r, labels: { ...r.labels, ...legacyLabels } }),
  });
  await plain.saw("on\n");
  const copy = (await bed.list("jobs")).find(({ metadata }) => metadata.labels?.[KEYS.runId] === plain.request.runId)!;
  const { spec } = structuredClone(copy) as unknown as {
    spec: { template: { spec: { containers: Record<string, unknown>[]; volumes: unknown } } };
  };
  const name = `older-${agent.slice(0, 8)}`;
  const labels = { "suite.test/managed": "yes", ...legacyLabels };
  const { containers, volumes: _, ...podSpec } = spec.template.spec;
  // Another program in the same image: our runner would find that the run has started already, and end.
  const { volumeMounts: __, ...container } = containers[0]!;
  const lives = { ...container, command: ["node", "-e", "setInterval(() => {}, 1000)"] };
  await createJob(connection, bed.namespace, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: bed.namespace, labels },
    spec: { backoffLimit: 0, template: { metadata: { labels }, spec: { ...podSpec, containers: [lives] } } },
  });
  plain.cancel();
  await plain.done;
  const run = startRun(bed, keyed(`${agent}/task`, { script: TIMED, change: (r) => ({ ...r, legacyLabels }) }));
  await expect.poll(() => said(run)).toContain(`waiting for Job ${name} (not started by this version, so it is left alone)`);
  await remove(name);
  expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});
