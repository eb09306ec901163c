import { randomUUID } from "node:crypto";
import { permissions } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, keyed, type RunOptions, startRun } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

// Each optional permission of a takeover that is missing costs what the table says, and never the run.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const TALKING = `let n = 0; console.log("on"); setInterval(() => console.log("on " + ++n), 500)`;

/** A live run, and one that takes it over with an account that lacks a row. */
async function takeOverWithout(verb: string, resource: string) {
  const key = `without-${resource}`;
  const options: RunOptions = {
    script: TALKING,
    onLockConflict: async () => ({ kind: "adopt" }),
    change: (request) => ({ ...request, exclusive: key, name: { prefix: "suite-", parts: [key], identity: key } }),
  };
  const owner = startRun(bed, options);
  await owner.saw("on\n");
  const kubeconfig = await bed.account(permissions.filter((row) => !(row.verb === verb && row.resource === resource)));
  const run = startRun({ ...bed, kubeconfig }, options);
  const warned = (text: string) =>
    expect.poll(() => run.status.filter((line) => line.level === "warning" && line.text.includes(text)).length).toBe(1);
  return { owner, run, warned };
}

test("patch jobs: the Job is waited for, as by a run that does not continue it", async () => {
  const { owner, run, warned } = await takeOverWithout("patch", "jobs");
  await warned("cannot be taken over: not allowed to patch jobs");
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: false });
  expect(await owner.jobs()).toBe(1);
  owner.cancel();
  expect((await owner.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
});

/** A Job that has finished, and whose server is gone. */
async function finishedOrphan(key: string): Promise<string> {
  const detach = new AbortController();
  const { script, release } = gatedScript(bed);
  const first = startRun(bed, keyed(key, { script, detach: detach.signal }));
  await first.saw("on\n");
  detach.abort(new Error("the server stops"));
  await first.done;
  await release();
  const name = await first.job();
  const status = async () => JSON.stringify((await bed.list("jobs")).find(({ metadata }) => metadata.name === name)?.status);
  await expect.poll(status).toContain('"type":"Complete"');
  return name;
}

for (const [was, is, removed] of [
  ["/task", "/task", true],
  ["/task", "", false],
] as const)
  test(`patch jobs: a finished Job of key "agent${was}" that may not be adopted does not block "agent${is}"`, async () => {
    const agent = randomUUID();
    const orphan = await finishedOrphan(`${agent}${was}`);
    const kubeconfig = await bed.account(permissions.filter((row) => !(row.verb === "patch" && row.resource === "jobs")));
    const clock = createTestClock();
    const own = { script: `console.log("own prompt")`, onLockConflict: async () => ({ kind: "adopt" }) as const, engine: { clock } };
    const run = startRun({ ...bed, kubeconfig }, keyed(`${agent}${is}`, own));
    // Only the wait for the lock is hurried: a real pod and a real volume take real time.
    await clock.hurry(expect.poll(() => run.status.some(({ text }) => text.includes(" accepted, "))).toBe(true));
    const { outcome, output, status } = await run.done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    expect(output.toString()).toBe("own prompt\n");
    const lines = status.map(({ text }) => text);
    expect(lines.filter((text) => text.includes("cannot be taken over") && text.includes("waiting until it is gone"))).toHaveLength(1);
    expect(lines.filter((text) => text.includes("removing finished Job"))).toHaveLength(removed ? 1 : 0);
    const left = (await bed.list("jobs")).filter(({ metadata }) => metadata.name === orphan);
    expect(left).toHaveLength(removed ? 0 : 1);
    if (!removed) await bed.faults.deleteJob(orphan, "Foreground");
  });

test.each([
  ["secrets", "the Secret of the Job taken over cannot be changed: not allowed to patch secrets"],
  ["pods", "cannot be labelled: not allowed to patch pods"],
])("patch %s: taken over all the same", async (resource, warning) => {
  const { owner, run, warned } = await takeOverWithout("patch", resource);
  await warned(warning);
  await run.saw("on 1\n");
  expect((await owner.done).outcome).toMatchObject({ kind: "superseded" });
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
});
