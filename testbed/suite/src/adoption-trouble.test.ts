import { randomUUID } from "node:crypto";
import type { LockDecision, RunRequest } from "@paperclip-k8s/engine";
import type { Fault, RequestMatch } from "@paperclip-k8s/pocket";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { connect } from "../../../packages/engine/src/kube/connection.ts";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { relayTo } from "./relay-request.ts";
import { gatedScript, KEYS, keyed, type RunHandle, type RunOptions, startRun } from "./run.ts";
import { createTestClock } from "./test-clock.ts";

// Trouble while a Job is made or changes hands: what was at work goes on, what could not start is not left behind.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const ENDLESS = `console.log("on"); setInterval(() => {}, 1000)`;
const troubles: Fault[] = [];
const quiet = () => {
  for (const trouble of troubles.splice(0)) trouble.undo();
};

/** The first one takes effect, and its answer is lost; after that there are only errors, and nothing to be seen. */
function lostAndThen503(match: RequestMatch): Fault {
  const lost = bed.faults.drop(match, { when: "after" });
  troubles.push(lost, bed.faults.fail(match, { status: 503, times: 9999 }));
  return lost;
}
function failing(match: RequestMatch): Fault {
  const fault = bed.faults.fail(match, { status: 503, times: 9999 });
  troubles.push(fault);
  return fault;
}
const jobsOf = async (key: string) => (await bed.list("jobs")).filter(({ metadata }) => metadata.name.startsWith(`suite-${key}`));
const said = (run: RunHandle, text: string) => run.status.some((line) => line.text.includes(text));

/** A run whose server has let go of it; its Job goes on. */
async function orphan(key: string, options: RunOptions = {}): Promise<RunHandle> {
  const detach = new AbortController();
  const run = startRun(bed, keyed(key, { script: ENDLESS, ...options, detach: detach.signal }));
  await run.saw("on\n");
  detach.abort(new Error("the server stops"));
  await run.done;
  return run;
}

const adopter = (key: string, options: RunOptions = {}): RunHandle =>
  startRun(bed, keyed(key, { script: `console.log("own prompt")`, onLockConflict: async () => ({ kind: "adopt" }), ...options }));

/** Ends a run that would go on for ever. */
async function end(run: RunHandle): Promise<void> {
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
}

test("an API server that fails for longer than a create is tried: it has not started, whether its Job was made or not", async () => {
  lostAndThen503({ verb: "create", resource: "jobs" });
  failing({ verb: "get", resource: "jobs" });
  const clock = createTestClock();
  const { outcome } = await clock.hurry(startRun(bed, keyed("ghost", { script: ENDLESS, engine: { clock } })).done);
  expect(outcome).toMatchObject({ kind: "never-started", cause: "job-create-failed", permanent: false });
  expect(await jobsOf("ghost")).toHaveLength(1);
  quiet();
  await expect.poll(() => jobsOf("ghost")).toEqual([]);
});

test("a takeover whose answer is lost has the Job, and follows it", async () => {
  const first = await orphan("claimed");
  lostAndThen503({ verb: "patch", resource: "jobs" });
  const clock = createTestClock();
  const second = adopter("claimed", { engine: { clock } });
  await clock.hurry(second.saw("on\n"));
  expect(said(second, `of run ${first.request.runId}`)).toBe(true);
  await end(second);
});

test("a takeover nobody can confirm is reported as one, and the Job goes on", async () => {
  await orphan("unclear");
  const lost = lostAndThen503({ verb: "patch", resource: "jobs" });
  const clock = createTestClock();
  const second = adopter("unclear", { engine: { clock, timeouts: { lockDecision: 500 } } });
  // The create's own look at who holds its name must work.
  await expect.poll(() => lost.hits, { interval: 20 }).toBe(1);
  failing({ verb: "get", resource: "jobs" });
  const { outcome } = await clock.hurry(second.done);
  quiet();
  expect(outcome).toMatchObject({ kind: "never-started", cause: "takeover-failed", permanent: false });
  const [job] = await jobsOf("unclear");
  expect(job?.metadata).toMatchObject({ annotations: { [KEYS.runId]: second.request.runId } });
  expect(job?.metadata.deletionTimestamp).toBeUndefined();
  const third = adopter("unclear");
  await third.saw("on\n");
  await end(third);
});

test("a cancel while nobody can confirm the takeover: what was taken over is removed when that can be seen", async () => {
  await orphan("unwanted");
  const lost = lostAndThen503({ verb: "patch", resource: "jobs" });
  const second = adopter("unwanted");
  await expect.poll(() => lost.hits, { interval: 20 }).toBe(1);
  failing({ verb: "get", resource: "jobs" });
  second.cancel();
  expect((await second.done).outcome).toMatchObject({ kind: "cancelled", stopped: false });
  quiet();
  await expect.poll(() => jobsOf("unwanted")).toEqual([]);
});

test("a live Job whose Secret somebody deleted is followed, not removed", async () => {
  const { script, release } = gatedScript(bed);
  const first = await orphan("bare", { script });
  await deleteSecrets();
  const clock = createTestClock();
  const second = adopter("bare", { engine: { clock } });
  await clock.hurry(second.saw("on\n"));
  // Far longer than a Job without Secret is given.
  await clock.advance(600_000);
  await release();
  const { outcome, output } = await second.done;
  expect(output.toString()).toBe("on\noff\n");
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect((await first.done).outcome).toMatchObject({ kind: "detached", evidence: { jobUid: outcome.evidence.jobUid } });
});

async function deleteSecrets(): Promise<void> {
  const kubeconfig = await bed.account([{ group: "", resource: "secrets", verb: "delete", scope: "namespace" }]);
  const connection = await connect({ kubeconfig });
  for (const { metadata } of await bed.list("secrets"))
    if (metadata.name.startsWith("suite-bare"))
      await connection.request({ method: "DELETE", path: `/api/v1/namespaces/${bed.namespace}/secrets/${metadata.name}` });
  connection.close();
}

const withToken = (token: string) => (request: RunRequest) => ({
  ...request,
  relay: relayTo(`http://${bed.hostAddress}:9`, request, token),
});

const tokensOf = async (name: string) =>
  (await bed.list("secrets"))
    .filter(({ metadata }) => metadata.name.startsWith(`suite-${name}`))
    .map(({ data }) => Buffer.from((data as Record<string, string>)["credentials.json"] ?? "", "base64").toString());

test("where an operator's policy forbids any change but the token's, the token is given alone", async () => {
  await orphan("alone", { change: withToken("old") });
  const refused = bed.faults.fail({ verb: "patch", resource: "secrets" }, { status: 403, times: 1 });
  const second = adopter("alone", { change: withToken("new") });
  await second.saw("on\n");
  await expect.poll(async () => (await tokensOf("alone")).join()).toContain('"new"');
  expect(refused.hits).toBe(1);
  await end(second);
});

test("the token is given when the API server takes it again, and the kubelet is made to look only then", async () => {
  await orphan("token", { change: withToken("old") });
  const refused = failing({ verb: "patch", resource: "secrets" });
  const clock = createTestClock();
  const second = adopter("token", { change: withToken("new"), engine: { clock } });
  await second.saw("on\n");
  await clock.hurry(expect.poll(() => refused.hits).toBeGreaterThan(12));
  const tokenOf = () => tokensOf("token");
  expect((await tokenOf()).join()).toContain('"old"');
  await expect(second.pod()).rejects.toThrow("no object");
  quiet();
  await clock.hurry(expect.poll(async () => (await tokenOf()).join()).toContain('"new"'));
  await expect.poll(() => second.pod().catch(() => null)).not.toBeNull();
  expect(said(second, "has this run's token now")).toBe(true);
  await end(second);
});

test("a Job taken over is measured with its own deadline, not with the new run's", async () => {
  const { script, release } = gatedScript(bed);
  await orphan("patient", { script });
  const limited = (request: RunRequest) => ({ ...request, limits: { ...request.limits, timeoutSec: 60 } });
  const clock = createTestClock();
  const second = adopter("patient", { change: limited, engine: { clock } });
  await clock.hurry(second.saw("on\n"));
  // The new run's limit, its grace and all that is added to them.
  await clock.advance(1_800_000);
  await release();
  const { outcome, output } = await second.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("on\noff\n");
});

test("a takeover that is refused as it stands is tried again now and then, not at once", async () => {
  await orphan("policy");
  const refused = bed.faults.fail({ verb: "patch", resource: "jobs" }, { status: 422, times: 9999, message: "denied by a policy" });
  troubles.push(refused);
  const clock = createTestClock();
  const asked: number[] = [];
  const onLockConflict = async () => {
    asked.push(clock.now());
    return { kind: "adopt" } as const;
  };
  const second = adopter("policy", { onLockConflict, engine: { clock, timeouts: { lockDecision: 60_000 } } });
  await clock.hurry(expect.poll(() => refused.hits).toBeGreaterThan(3));
  // The first two belong together: one for the Job that was listed, one for the name that was taken.
  const pauses = asked.slice(2).map((at, index) => at - (asked[index + 1] ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(59_000);
  quiet();
  await clock.hurry(second.saw("on\n"));
  await end(second);
});

test("a host that cannot answer about a Job is asked again soon, not when its next turn comes", async () => {
  const key = randomUUID();
  const gate = gatedScript(bed);
  const leave = new AbortController();
  const first = startRun(bed, keyed(key, { script: gate.script, detach: leave.signal }));
  await first.saw("on");
  leave.abort(new Error("this server stops"));
  await first.done;
  let asked = 0;
  const onLockConflict = async (): Promise<LockDecision> => (++asked < 3 ? { kind: "wait", undecided: true } : { kind: "adopt" });
  const next = startRun(bed, keyed(key, { script: "", onLockConflict, engine: { timeouts: { lockDecision: 3_600_000 } } }));
  await next.saw("on");
  await gate.release();
  expect((await next.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});
