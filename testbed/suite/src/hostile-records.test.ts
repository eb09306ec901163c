import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { startRun } from "./run.ts";

// A CLI can write whatever it likes into its own run's files: none of it may leave the run pending, silent or deaf.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

/** An object that no text can be made of: whoever writes it into a line throws. */
const POISON = `{"toString":1,"valueOf":1}`;

/** Adds a record to the run's own file, then says so and runs until it is stopped. */
const forging = (record: string): string => `
  const fs = require("node:fs");
  const folder = process.cwd() + "/logs/";
  const meta = fs.readdirSync(folder).filter((name) => name.endsWith(".meta")).map((name) => folder + name)
    .sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)[0];
  fs.appendFileSync(meta, ${JSON.stringify(`${record}\n`)});
  process.on("SIGTERM", () => process.exit(143));
  console.log("forged");
  setInterval(() => {}, 1000);`;

const RESTORED = `{"type":"state","at":"now","act":"restored","ms":1,"point":{"at":${POISON},"version":"1","bytes":1,"generation":1}}`;
const NOTE = `{"type":"note","at":"now","text":"still listening"}`;

test("a record that cannot be put into a line: what follows it is read, and a cancel is heard", async () => {
  const run = startRun(bed, { script: forging(`${RESTORED}\n${NOTE}`) });
  await run.saw("forged");
  await expect.poll(() => run.status.map(({ text }) => text)).toContain("still listening");
  run.cancel("asked by the test");
  const { outcome } = await run.done;
  expect(outcome).toMatchObject({ kind: "cancelled", reason: "asked by the test" });
});
