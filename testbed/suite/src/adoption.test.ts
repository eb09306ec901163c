import { randomUUID } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { KEYS } from "./run.ts";
import { ServerProcess, type ServerRun } from "./server-process.ts";

// A server is killed in the middle of its runs, and another process goes on with them.

let bed: Bed;
const servers: ServerProcess[] = [];
beforeAll(async () => {
  bed = await startBed();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await bed.stop();
});

function serve(...runs: readonly ServerRun[]): ServerProcess {
  const server = new ServerProcess(bed, runs, { timeouts: { lockDecision: 1000 } });
  servers.push(server);
  return server;
}

/** Counts until it is asked to end. */
const counting = (key: string) =>
  `let n = 0; const t = setInterval(() => { console.log("line " + ++n);
   if (require("node:fs").existsSync(${JSON.stringify(go(key))})) { console.log("end"); clearInterval(t); } }, 100)`;
const go = (key: string) => `${bed.data}/go-${key}`;
const end = (run: ServerRun) => writeFile(go(run.key), "");

function start(changes: Partial<ServerRun> = {}): ServerRun {
  const key = randomUUID();
  return { runId: randomUUID(), key, script: counting(key), continues: [], ...changes };
}
/** The run a host starts in its place. */
const next = ({ key, runId }: ServerRun): ServerRun => start({ key, script: `console.log("own prompt")`, continues: [runId] });

/** Every line once and in order. */
function isWhole(output: string): boolean {
  const lines = output.split("\n");
  return lines.slice(-2).join() === "end," && lines.slice(0, -2).every((line, index) => line === `line ${index + 1}`);
}
const jobsOf = async ({ key }: ServerRun) => (await bed.list("jobs")).filter(({ metadata }) => metadata.name.includes(key.slice(0, 8)));

/** A run whose server is gone. */
async function orphan(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<ServerRun> {
  const run = start();
  const server = serve(run);
  await server.saw(run.runId, "line 3\n");
  await server.kill(signal);
  return run;
}

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test.concurrent(`after ${signal} the next server adopts the live Job: all lines once and in order, Job and files removed`, async ({
    expect,
  }) => {
    const first = await orphan(signal);
    const [job] = await jobsOf(first);
    const second = next(first);
    const after = serve(second);
    await after.saw(second.runId, "line 1\n");
    await end(first);
    const { outcome, output, status } = await after.done(second.runId);
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { jobUid: job?.metadata.uid, output: { complete: true } } });
    expect(output).toSatisfy(isWhole);
    expect(status.map(({ text }) => text).join("\n")).toContain(`adopted Job ${bed.namespace}/${job?.metadata.name} of run ${first.runId}`);
    await expect.poll(() => jobsOf(first)).toEqual([]);
    const left = (await readdir(`${bed.data}/logs`)).filter((name) => name.includes(first.runId) || name.includes(second.runId));
    expect(left).toEqual([]);
  });

test.concurrent("a Job that ended while nobody was there is settled from its files", async ({ expect }) => {
  const first = await orphan();
  await end(first);
  await expect.poll(async () => (await jobsOf(first))[0]?.status).toMatchObject({ succeeded: 1 });
  const second = next(first);
  const { outcome, output } = await serve(second).done(second.runId);
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { proof: "end-record" } });
  expect(output).toSatisfy(isWhole);
});

test.concurrent("a run that does not continue it waits, and then runs its own prompt", async ({ expect }) => {
  const first = start();
  const before = serve(first);
  await before.saw(first.runId, "line 1\n");
  const other = start({ key: first.key, script: `console.log("own prompt")` });
  const after = serve(other);
  await after.heard(other.runId, "waiting for Job");
  await end(first);
  expect((await after.done(other.runId)).output).toBe("own prompt\n");
  expect((await before.done(first.runId)).output).toSatisfy(isWhole);
});

test.concurrent("the server that loses its Job settles as superseded and leaves it alone", async ({ expect }) => {
  const first = start();
  const before = serve(first);
  await before.saw(first.runId, "line 3\n");
  const second = next(first);
  const after = serve(second);
  expect((await before.done(first.runId)).outcome).toMatchObject({ kind: "superseded", byRun: second.runId });
  await end(first);
  const { outcome, output } = await after.done(second.runId);
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output).toSatisfy(isWhole);
});

test.concurrent("two adopters at once, in two processes: exactly one gets it", async ({ expect }) => {
  const first = await orphan();
  const competing = [next(first), next(first)].map((run) => ({ run, server: serve(run) }));
  await Promise.race(competing.map(({ run, server }) => server.saw(run.runId, "line 3\n")));
  await end(first);
  const outputs = await Promise.all(competing.map(async ({ run, server }) => (await server.done(run.runId)).output));
  expect(outputs.filter(isWhole)).toHaveLength(1);
  // The loser of the swap waits for the key and then runs its own prompt.
  expect(outputs.filter((output) => output === "own prompt\n")).toHaveLength(1);
});

test.concurrent("a run that was started again under its own id goes on with its Job, unasked", async ({ expect }) => {
  const first = await orphan();
  const after = serve(first);
  await after.saw(first.runId, "line 1\n");
  await end(first);
  expect((await after.done(first.runId)).output).toSatisfy(isWhole);
});

test.concurrent("an adopted Job is adopted again, and names all it belonged to", async ({ expect }) => {
  const first = await orphan();
  const second = next(first);
  const middle = serve(second);
  await middle.saw(second.runId, "line 3\n");
  await middle.kill();
  const third = next(second);
  const last = serve(third);
  await last.saw(third.runId, "line 1\n");
  const [job] = await jobsOf(first);
  expect(job?.metadata.annotations).toMatchObject({
    [KEYS.runId]: third.runId,
    [KEYS.firstRun]: first.runId,
    [KEYS.adoptedFrom]: `${first.runId},${second.runId}`,
  });
  expect(job?.metadata.labels?.[KEYS.runId]).toBe(third.runId);
  await end(first);
  expect((await last.done(third.runId)).output).toSatisfy(isWhole);
});
