import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { RUNNER_EXIT } from "@paperclip-k8s/runner";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { type CancelledRun, type CancelTimes, cancelRun, OBEDIENT, STUBBORN } from "./cancel-times.ts";
import { finishRun, keyed, type RunHandle, type RunOptions, startRun } from "./run.ts";

// A cancel in each phase of a run: how long until the CLI knows, until nothing is left, until the caller has its result. The times are printed.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const LONG = process.env.LONG === "1";
/** The longest grace there is on a cancel; the suite's runs have less. */
const GRACE_SEC = LONG ? 30 : 2;
const OWN = `console.log("own prompt")`;
const start = (options: RunOptions): RunHandle => startRun(bed, keyed(randomUUID(), options));
const said = (run: RunHandle, text: string) => expect.poll(() => run.status.some((line) => line.text.includes(text))).toBe(true);

/** The pod's own time limit is an hour, and who waits for one is past every hang limit. */
const expectAllGone = ({ gone }: CancelTimes) => expect(Object.entries(gone).filter(([, at]) => at === null)).toEqual([]);

/** Who comes next is free to adopt whatever it finds, and finds nothing. */
async function expectKeyFree({ request }: RunHandle): Promise<void> {
  const next = await finishRun(bed, keyed(request.exclusive ?? "", { script: OWN, onLockConflict: async () => ({ kind: "adopt" }) }));
  expect(next.output.toString()).toBe("own prompt\n");
  expect(next.status.filter((line) => line.text.includes("adopted"))).toEqual([]);
}

async function expectCancelled(run: RunHandle, ended: CancelledRun, exitCode: number | null = null): Promise<void> {
  expect(ended.outcome).toMatchObject({ kind: "cancelled", reason: "by an operator", stopped: true, exitCode });
  await expectKeyFree(run);
}

test("waiting for its key: it says for which Job, nothing was made, and the lock owner goes on", async () => {
  const owner = start({ script: OBEDIENT });
  await owner.saw("on\n");
  const run = startRun(bed, keyed(owner.request.exclusive ?? "", { script: OWN }));
  await said(run, "waiting for Job");
  expect(run.status.find((line) => line.text.startsWith("waiting for Job"))?.text).toContain(owner.request.runId);
  const ended = await cancelRun("waiting for its key", run);
  expect(ended.outcome).toMatchObject({ kind: "cancelled", stopped: true, evidence: { jobUid: null } });
  expectAllGone(ended.times);
  expect(await owner.jobs()).toBe(1);
  await cancelRun("running, the lock owner", owner);
  await expectKeyFree(run);
});

type Answer = NonNullable<RunOptions["onLockConflict"]>;
/** A question that is never answered. */
const unanswered: Answer = () => new Promise(() => {});
const isAsked = "asked";

test.each<[string, Answer, string | null, { readonly continues?: boolean; readonly adoptsOnly?: boolean }, boolean]>([
  ["it continues another one, and has not looked yet", unanswered, null, { continues: true }, false],
  ["it is to adopt the Job, and nobody has decided yet", unanswered, isAsked, { continues: true, adoptsOnly: true }, false],
  ["nobody could decide about the Job", async () => ({ kind: "wait", undecided: true }), "waiting for Job", {}, false],
  [
    "it continues another one, and the Job is somebody else's",
    async () => ({ kind: "wait" }),
    "waiting for Job",
    { continues: true },
    true,
  ],
])("before it has a Job, beside one at work: %s", async (_, answer, sign, changes, stopped) => {
  const owner = start({ script: OBEDIENT });
  await owner.saw("on\n");
  let asked = 0;
  const run = startRun(
    bed,
    keyed(owner.request.exclusive ?? "", {
      script: OWN,
      change: (request) => ({ ...request, ...changes }),
      onLockConflict: (job) => {
        asked++;
        return answer(job);
      },
    }),
  );
  if (sign === isAsked) await expect.poll(() => asked).toBe(1);
  else if (sign !== null) await said(run, sign);
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped, evidence: { jobUid: null } });
  expect(await owner.jobs()).toBe(1);
  owner.cancel();
  await owner.done;
});

test.each(["jobs", "secrets"])("submitting, the create of %s is under way: what it makes does not stay", async (resource) => {
  const fault = bed.faults.delay({ verb: "create", resource }, 700);
  // Also of a run that was to continue another one, since it has seen that nothing is there.
  const run = start({ script: OBEDIENT, change: (request) => ({ ...request, continues: true }) });
  await expect.poll(() => fault.hits, { interval: 20 }).toBe(1);
  const ended = await cancelRun(`submitting (${resource})`, run);
  expectAllGone(ended.times);
  // The request that was broken off may still take effect.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect([await run.jobs(), await run.secrets()]).toEqual([0, 0]);
  // On a busy machine its pod may have started by then.
  expect(ended.outcome).toMatchObject({ kind: "cancelled", reason: "by an operator", stopped: true });
  await expectKeyFree(run);
});

test("submitting, the API server does not answer", async () => {
  const fault = bed.faults.hang({ verb: "create", resource: "jobs" }, { times: 99 });
  const run = start({ script: OBEDIENT });
  await expect.poll(() => fault.hits, { interval: 20 }).toBe(1);
  // A create that may have taken effect is waited for, for 8 s.
  const ended = await cancelRun("submitting, no answer", run);
  fault.undo();
  expectAllGone(ended.times);
  await expectCancelled(run, ended);
});

test.each<[string, string, RunOptions["change"]]>([
  ["no node", "not scheduled yet", (request) => ({ ...request, scheduling: { ...request.scheduling, nodeSelector: { disk: "huge" } } })],
  ["no image", "nowhere", (request) => ({ ...request, container: { ...request.container, image: bed.images.missing } })],
])("pending: %s", async (why, sign, change) => {
  const run = start({ script: OBEDIENT, ...(change === undefined ? {} : { change }) });
  await said(run, sign);
  const ended = await cancelRun(`pending (${why})`, run);
  expectAllGone(ended.times);
  await expectCancelled(run, ended);
});

test("starting, and the SIGTERM is lost on a first process that does not handle it yet: the CLI is not started", async () => {
  const begun = `${bed.data}/begun-${randomUUID()}`;
  // As a Node that has just been started: for a while signals have no effect.
  const runtime = ["sh", "-c", `trap "" TERM; sleep 3; exec node "$@"`, "sh"] as const;
  const run = start({
    script: `require("node:fs").writeFileSync(${JSON.stringify(begun)}, ""); ${OBEDIENT}`,
    // So that a slow machine has started that Node long before the pod is killed.
    change: (request) => ({ ...request, limits: { ...request.limits, graceSec: 30 }, container: { ...request.container, runtime } }),
  });
  await said(run, "container running");
  const ended = await cancelRun("starting, the SIGTERM is lost", run);
  expectAllGone(ended.times);
  expect(existsSync(begun)).toBe(false);
  // By itself: a pod that was waited for until its grace was over has 137.
  expect(ended.outcome.evidence.container).toMatchObject({ kind: "terminated", exitCode: RUNNER_EXIT.alreadyStarted });
  await expectCancelled(run, ended);
});

// 16 s: the pod's grace.
test.runIf(LONG)("running, and no SIGTERM reaches the runner: waited for until the pod's grace is over", async () => {
  const runtime = ["sh", "-c", `trap "" TERM; node "$@"`, "sh"] as const;
  const run = start({
    script: OBEDIENT,
    change: (request) => ({ ...request, limits: { ...request.limits, graceSec: 1 }, container: { ...request.container, runtime } }),
  });
  await run.saw("on\n");
  const ended = await cancelRun("running, the SIGTERM is lost", run);
  expectAllGone(ended.times);
  await expectCancelled(run, ended, 137);
});

test("running: SIGTERM first, the output kept", async () => {
  const run = start({ script: OBEDIENT });
  await run.saw("on\n");
  const ended = await cancelRun("running", run);
  expectAllGone(ended.times);
  expect(ended.times.term).not.toBeNull();
  expect(ended.output.toString()).toMatch(/^on\nterm \d+\n$/);
  expect(ended.outcome.evidence.output.complete).toBe(true);
  await expectCancelled(run, ended, 7);
});

test(`running, SIGTERM ignored: killed after a grace of ${GRACE_SEC} s`, async () => {
  // More than the longest is cut to it: the host waits a minute for a cancelled run.
  const graceSec = LONG ? 60 : GRACE_SEC;
  const run = start({ script: STUBBORN, change: (request) => ({ ...request, limits: { ...request.limits, graceSec } }) });
  await run.saw("on\n");
  const ended = await cancelRun(`running, SIGTERM ignored, grace ${GRACE_SEC} s`, run);
  const { term, alive } = ended.times;
  expectAllGone(ended.times);
  expect(alive! - term!).toBeGreaterThan(GRACE_SEC * 1000 - 1000);
  await expectCancelled(run, ended);
});

test("running, taken over from another server", async () => {
  const first = start({ script: OBEDIENT });
  await first.saw("on\n");
  const key = first.request.exclusive ?? "";
  const run = startRun(bed, keyed(key, { script: OWN, onLockConflict: async () => ({ kind: "adopt" }) }));
  await run.saw("on\n");
  expect((await first.done).outcome).toMatchObject({ kind: "superseded" });
  const ended = await cancelRun("running, taken over", run);
  expectAllGone(ended.times);
  expect(ended.times.term).not.toBeNull();
  expect(existsSync(first.request.output.path)).toBe(false);
  await expectCancelled(run, ended, 7);
});

test("taking a Job over: what is claimed already is ended", async () => {
  const first = start({ script: OBEDIENT });
  await first.saw("on\n");
  const fault = bed.faults.hang({ verb: "patch", resource: "secrets" }, { times: 99 });
  const run = startRun(bed, keyed(first.request.exclusive ?? "", { script: OWN, onLockConflict: async () => ({ kind: "adopt" }) }));
  await expect.poll(() => fault.hits).toBe(1);
  const ended = await cancelRun("taking a Job over", run);
  fault.undo();
  expectAllGone(ended.times);
  expect(ended.times.term).not.toBeNull();
  expect(existsSync(first.request.output.path)).toBe(false);
  await expectCancelled(run, ended, 7);
});

test("draining: the CLI has ended by itself, so its result counts; nothing is left", async () => {
  const gate = Promise.withResolvers<void>();
  let bytes = 0;
  const run = start({
    script: `process.stdout.write("x".repeat(2_000_000) + "\\n")`,
    onOutput: async (chunk) => {
      await gate.promise;
      bytes += chunk.length;
    },
  });
  await said(run, "CLI ended");
  setTimeout(gate.resolve, 200);
  const ended = await cancelRun("draining", run);
  expectAllGone(ended.times);
  expect(ended.outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect(bytes).toBe(2_000_001);
  await expectKeyFree(run);
});

test("running, the API server is away: reported as not confirmed, and pursued until it is back", async () => {
  const run = start({ script: OBEDIENT, engine: { timeouts: { cancel: 2000 } } });
  await run.saw("on\n");
  await bed.faults.down();
  const back = run.done.then(() => bed.faults.up());
  const ended = await cancelRun("running, API server away until the result", run);
  await back;
  expect(ended.outcome).toMatchObject({ kind: "cancelled", stopped: false });
  expect(ended.times.gone.Job).not.toBeNull();
  // A pod nobody saw end may still write.
  expect(ended.times.gone.files).toBeNull();
  await expectKeyFree(run);
});
