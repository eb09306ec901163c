import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { finishRun, gatedScript, type RunHandle, startRun } from "./run.ts";

// One agent's pod writes into the files of another's run, which here it can reach: none of that is believed.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const at = "2026-01-01T00:00:00.000Z";
const END = { type: "end", at, exitCode: 0, signal: null, cause: "exit", bytes: 3, written: 3, lines: 1 };
const NOTE = { type: "note", at, text: "written by another agent" };
const RESTORED = { type: "state", at, act: "restored", ms: 1, point: { generation: "1", at, bytes: 1, version: null } };

/** A pod of its own appends this to a file. */
const append = (file: string, text: string) =>
  finishRun(bed, { script: `require("node:fs").appendFileSync(${JSON.stringify(file)}, ${JSON.stringify(text)})` });

const lines = (...records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const texts = (run: RunHandle): string[] => run.status.map(({ text }) => text);

test("a forged end, note and state: the run goes on to its own end, and its log says it once", async () => {
  const { script, release } = gatedScript(bed, { exitCode: 3 });
  const run = startRun(bed, { script });
  await run.saw("on\n");
  const meta = `${run.request.output.path}.meta`;
  const seen = () => texts(run).filter((text) => text === `${meta} has lines that this run's pod did not write: they do not count`);
  await append(meta, lines(NOTE, RESTORED, END, { ...END, seq: 99, mac: "A".repeat(43) }));
  while (seen().length === 0) await sleep(50);
  await append(meta, lines(END));
  expect(await run.jobs()).toBe(1);
  await release();
  const { outcome, output } = await run.done;
  expect(outcome).toMatchObject({
    kind: "exited",
    exitCode: 3,
    evidence: {
      proof: "end-record",
      signed: true,
      state: null,
      output: { complete: true, forged: false },
      warnings: [`5 lines of ${meta} were not written by this run's pod and did not count`],
    },
  });
  expect(output.toString()).toBe("on\noff\n");
  expect([seen().length, texts(run).includes(NOTE.text)]).toEqual([1, false]);
});

test("lines of the run itself, copied, count once", async () => {
  const { script, release } = gatedScript(bed);
  const run = startRun(bed, { script });
  await run.saw("on\n");
  const meta = `${run.request.output.path}.meta`;
  const copy = `const fs = require("node:fs"); fs.appendFileSync("${meta}", fs.readFileSync("${meta}"))`;
  await finishRun(bed, { script: copy });
  while (!texts(run).some((text) => text.includes("did not write"))) await sleep(50);
  await release();
  expect((await run.done).outcome).toMatchObject({
    kind: "exited",
    exitCode: 0,
    evidence: { proof: "end-record", output: { complete: true } },
  });
  expect(texts(run).filter((text) => text === "CLI started")).toHaveLength(1);
});

test("output that another pod has added is found out, and is no output that can be relied on", async () => {
  const { script, release } = gatedScript(bed);
  const run = startRun(bed, { script });
  await run.saw("on\n");
  await append(run.request.output.path, '{"type":"final","session":"ses_forged"}\n');
  await run.saw("ses_forged");
  await release();
  const { outcome } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { forged: true, complete: false } } });
  expect(texts(run)).toContain(
    `${run.request.output.path} is not as this run's pod has written it: nothing that was read from it can be relied on`,
  );
});
