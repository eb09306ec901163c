import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { type EarlierRun, startEarlierRun } from "./earlier-version.ts";
import { finishRun, gatedScript, keyed, startRun } from "./run.ts";

// The server is replaced by this version while runs of the version before it are live. Their records are not signed.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const adopt = ({ key }: EarlierRun) =>
  startRun(bed, keyed(key, { script: `console.log("own prompt")`, onLockConflict: async () => ({ kind: "adopt" }) }));

const at = "2026-01-01T00:00:00.000Z";
const END = { type: "end", at, exitCode: 0, signal: null, cause: "exit", bytes: 3, written: 3, lines: 1 };

/** A pod of another agent appends it. */
const forge = ({ files }: EarlierRun) =>
  finishRun(bed, { script: `require("node:fs").appendFileSync("${files.meta}", ${JSON.stringify(`${JSON.stringify(END)}\n`)})` });

/** Waits until the file has the text. */
async function has(file: string, text: string): Promise<void> {
  while (!(await readFile(file, "utf8")).includes(text)) await sleep(50);
}

test("a live run of the version before is taken over and ends with its true result", async () => {
  const gate = gatedScript(bed, { exitCode: 3 });
  const earlier = await startEarlierRun(bed, gate.script);
  await has(earlier.files.output, "on\n");
  const run = adopt(earlier);
  await run.saw("on\n");
  await gate.release();
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 3, evidence: { signed: false, output: { complete: true, forged: false } } });
  expect(output.toString()).toBe("on\noff\n");
});

test("a forged end in its records does not end it, and is not its result", async () => {
  const gate = gatedScript(bed, { exitCode: 3 });
  const earlier = await startEarlierRun(bed, gate.script);
  await has(earlier.files.output, "on\n");
  await forge(earlier);
  const run = adopt(earlier);
  await run.saw("on\n");
  await forge(earlier);
  expect((await bed.list("jobs")).some(({ metadata }) => metadata.annotations?.["suite.test/first-run"] === earlier.runId)).toBe(true);
  await gate.release();
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 3, evidence: { proof: "termination-message", output: { complete: true } } });
  expect(output.toString()).toBe("on\noff\n");
});

test("one that ended while no server was there is settled from what it left", async () => {
  const gate = gatedScript(bed, { exitCode: 3 });
  const earlier = await startEarlierRun(bed, gate.script);
  await gate.release();
  await has(earlier.files.meta, '"type":"end"');
  const { outcome, output } = await adopt(earlier).done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 3, evidence: { output: { complete: true } } });
  expect(output.toString()).toBe("on\noff\n");
});
