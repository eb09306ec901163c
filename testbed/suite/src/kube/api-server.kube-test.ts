import { setTimeout as sleep } from "node:timers/promises";
import { openCluster } from "@paperclip-k8s/kube";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Bed } from "../bed.ts";
import { finishRun, startRun } from "../run.ts";
import { startKubeBed } from "./kube-bed.ts";

// The API server itself is killed or falls silent: only a real one can be. Runs must not notice more than a warning.

const cluster = openCluster();
let bed: Bed;
beforeAll(async () => {
  bed = await startKubeBed({ proxied: false });
});
// Controllers, scheduler and kubelet come back to a new API server within a minute: no other test should have to wait for them.
afterEach(async () => {
  const ready = await cluster.admin.request("GET", "/readyz").catch(() => null);
  if (ready !== "ok") await cluster.startApiServer();
  expect((await finishRun(bed, { script: "" })).outcome.kind).toBe("exited");
}, 180_000);
afterAll(async () => {
  await bed.stop();
  cluster.close();
});

const silence = process.env.LONG ? 60_000 : 15_000;
const counting = (lines: number) =>
  `let n = 0; const t = setInterval(() => { console.log(n++); if (n === ${lines}) clearInterval(t); }, 500)`;
const counted = (lines: number) => Array.from({ length: lines }, (_, n) => `${n}\n`).join("");

test("killed before the CLI ends: the result comes from the files, the Job goes when the server is back", async () => {
  const run = startRun(bed, { script: counting(8) });
  await run.saw("2\n");
  await cluster.killApiServer();
  const back = sleep(8000).then(() => cluster.startApiServer());
  const { outcome, output } = await run.done;
  await back;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { proof: "end-record", output: { complete: true } } });
  expect(output.toString()).toBe(counted(8));
  expect(run.status.map((line) => line.text)).toContainEqual(expect.stringContaining("the API server cannot be reached"));
  await expect.poll(() => run.jobs(), { timeout: 120_000, interval: 500 }).toBe(0);
}, 180_000);

test(`silent for ${silence / 1000} s in the middle of a run`, async () => {
  const lines = silence / 500 + 10;
  const run = startRun(bed, { script: counting(lines) });
  await run.saw("3\n");
  cluster.pauseApiServer();
  await sleep(silence);
  await cluster.resumeApiServer();
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
  expect(output.toString()).toBe(counted(lines));
}, 180_000);

// Each kill makes the cluster's own programs wait longer before they come back: one is enough for every day.
test.runIf(process.env.LONG)(
  "killed and started again in the middle of a run: its watches start anew from a fresh list",
  async () => {
    const run = startRun(bed, { script: counting(60) });
    await run.saw("3\n");
    await cluster.killApiServer();
    await run.saw("9\n");
    await cluster.startApiServer();
    await expect.poll(() => run.status.some((line) => line.text.includes("the API server is back")), { timeout: 60_000 }).toBe(true);
    const { outcome, output } = await run.done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
    expect(output.toString()).toBe(counted(60));
    await expect.poll(() => run.jobs(), { timeout: 60_000 }).toBe(0);
  },
  240_000,
);

test.runIf(process.env.LONG)(
  "killed when a run begins: it starts when the server and its controllers are back",
  async () => {
    await cluster.killApiServer();
    const run = startRun(bed, { script: `console.log("late")` });
    await sleep(2000);
    await cluster.startApiServer();
    const { outcome, output } = await run.done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    expect(output.toString()).toBe("late\n");
  },
  240_000,
);
