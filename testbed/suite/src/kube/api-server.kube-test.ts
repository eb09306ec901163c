import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openCluster } from "@paperclip-k8s/kube";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Bed } from "../bed.ts";
import { calm } from "../calm.ts";
import { finishRun, KEYS, type RunHandle, startRun } from "../run.ts";
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
afterEach(() => calm(bed));
afterAll(async () => {
  await bed.stop();
  cluster.close();
});

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
const down = process.env.LONG ? 120_000 : 8000;
const silence = process.env.LONG ? 60_000 : 15_000;
const counting = (lines: number) =>
  `let n = 0; const t = setInterval(() => { console.log(n++); if (n === ${lines}) clearInterval(t); }, 500)`;
const counted = (lines: number) => Array.from({ length: lines }, (_, n) => `${n}\n`).join("");
const texts = (run: RunHandle) => run.status.map((line) => line.text);

/** Counts until it is asked to end: a slow start must not put its end before the trouble. */
function startCounting(): RunHandle & { readonly end: () => Promise<void> } {
  const go = `${bed.data}/${randomUUID()}`;
  const script = `let n = 0; const t = setInterval(() => { console.log(n++);
    if (require("node:fs").existsSync(${JSON.stringify(go)})) { console.log("end"); clearInterval(t); } }, 500)`;
  return { ...startRun(bed, { script }), end: () => writeFile(go, "") };
}

async function expectWhole(run: RunHandle, jobUid: string): Promise<void> {
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { jobUid, proof: "end-record", output: { complete: true } } });
  const lines = output.toString().split("\n").length - 2;
  expect(output.toString()).toBe(`${counted(lines)}end\n`);
  // Reported once, however often it was tried.
  expect(texts(run).filter((text) => text.includes("the API server cannot be reached"))).toHaveLength(1);
}

// Each kill makes the cluster's own programs wait longer before they come back: one is enough for every day.
test(`killed for ${seconds(down)}: one run goes on through it, another ends meanwhile; every line once, nothing is deleted but what is over`, async ({
  onTestFailed,
}) => {
  const through = startCounting();
  const ending = startCounting();
  onTestFailed(async () =>
    console.log(texts(ending), texts(through), JSON.stringify((await bed.list("jobs")).map(({ metadata }) => metadata))),
  );
  await Promise.all([through.saw("2\n"), ending.saw("2\n")]);
  const uids = Object.fromEntries((await bed.list("jobs")).map(({ metadata }) => [metadata.labels?.[KEYS.runId], metadata.uid]));
  await cluster.killApiServer();
  const killedAt = Date.now();
  const back = sleep(down).then(() => cluster.startApiServer());
  // Where the test has failed before, it was started by what comes after each.
  back.catch(() => {});
  await ending.end();
  await expectWhole(ending, uids[ending.request.runId] ?? "");
  const returned = Date.now() - killedAt;
  const heard = through.output().length;
  await expect.poll(() => through.output().length).toBeGreaterThan(heard);
  await back;
  const backAt = Date.now();
  await expect.poll(() => texts(through).includes("the API server is back"), { timeout: 60_000 }).toBe(true);
  expect(await through.jobs()).toBe(1);
  await through.end();
  await expectWhole(through, uids[through.request.runId] ?? "");
  // Its garbage collector needs its time too.
  await expect.poll(async () => [await ending.jobs(), await through.jobs()], { timeout: 240_000, interval: 500 }).toEqual([0, 0]);
  await expect.poll(() => [ending, through].map(({ request }) => existsSync(request.output.path))).toEqual([false, false]);
  const gone = seconds(Date.now() - backAt);
  console.log(
    `API server away ${seconds(backAt - killedAt)}: a result ${seconds(returned)} after the kill, all Jobs gone ${gone} after its return`,
  );
}, 600_000);

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
