import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "../bed.ts";
import { calm } from "../calm.ts";
import { startRun } from "../run.ts";

// Twenty runs at once on one node, twice: every line once and in order.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const RUNS = 20;
const LINES = 200;
const talking = `let n = 0; const t = setInterval(() => { for (let i = 0; i < 4; i++) console.log(JSON.stringify({ n: n++, text: "x".repeat(n % 97) }));
  if (n >= ${LINES}) clearInterval(t); }, 40)`;

test.each([1, 2])(
  "twenty runs at once (%i)",
  async () => {
    const runs = Array.from({ length: RUNS }, () => startRun(bed, { script: talking }));
    for (const run of runs) {
      const { outcome, output } = await run.done;
      expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
      const numbers = output
        .toString()
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { n: number }).n);
      expect(numbers).toEqual(Array.from({ length: LINES }, (_, n) => n));
    }
  },
  180_000,
);
