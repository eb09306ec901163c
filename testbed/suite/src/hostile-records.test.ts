import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { startRun } from "./run.ts";

// A CLI has its own run's key and can write whatever it likes into its own run's files: none of it may leave the run pending, silent or deaf.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

/** An object that no text can be made of: whoever writes it into a line throws. */
const POISON = `{"toString":1,"valueOf":1}`;

/** Signs records with the key of its own run, adds them to the run's file, says so and runs until it is stopped. */
const forging = (...records: readonly string[]): string => `
  const fs = require("node:fs");
  const runner = fs.readFileSync("/proc/" + process.ppid + "/cmdline", "utf8").split("\\0").find((part) => part.endsWith("runner.cjs"));
  const { key, files } = JSON.parse(fs.readFileSync(require("node:path").dirname(runner) + "/spec.json", "utf8"));
  ${JSON.stringify(records)}.forEach((record, index) => {
    const body = record.slice(0, -1) + ',"seq":' + (1000 + index);
    const mac = require("node:crypto").createHmac("sha256", Buffer.from(key, "base64url")).update(body).digest("base64url");
    fs.appendFileSync(files.meta, body + ',"mac":"' + mac + '"}\\n');
  });
  process.on("SIGTERM", () => process.exit(143));
  console.log("forged");
  setInterval(() => {}, 1000);`;

const RESTORED = `{"type":"state","at":"now","act":"restored","ms":1,"point":{"at":${POISON},"version":"1","bytes":1,"generation":1}}`;
const NOTE = `{"type":"note","at":"now","text":"still listening"}`;

test("a record that cannot be put into a line: what follows it is read, and a cancel is heard", async () => {
  const run = startRun(bed, { script: forging(RESTORED, NOTE) });
  await run.saw("forged");
  await expect.poll(() => run.status.map(({ text }) => text)).toContain("still listening");
  run.cancel("asked by the test");
  const { outcome } = await run.done;
  expect(outcome).toMatchObject({ kind: "cancelled", reason: "asked by the test" });
});

test("an end that says nothing true ends the run that wrote it, and no size in it is waited for", async () => {
  const huge = Number.MAX_SAFE_INTEGER;
  const end = { type: "end", at: "now", exitCode: 0, signal: null, cause: "exit", bytes: huge, written: huge };
  const state = { restored: null, saved: true, last: { generation: "1", at: "now", bytes: "POISON", version: null } };
  const record = JSON.stringify({ ...end, state }).replace('"POISON"', POISON);
  const run = startRun(bed, { script: forging(record), engine: { timeouts: { missing: 1000 } } });
  const { outcome } = await run.done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: false, expected: huge } } });
});
