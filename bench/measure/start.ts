import { setTimeout as sleep } from "node:timers/promises";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { openBareJobs } from "../bare-job.ts";
import { median, ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { stampsOf } from "../stamp.ts";
import { type Cost, costPerRun } from "./cost.ts";

const SETTLE_MS = 1_000;

/** `execute` and a bare Job of the same image in turns, so that both meet the same machine. */
export async function measureStart(host: Host, bed: Bed, pairs: number): Promise<{ rows: Row[]; cost: Cost }> {
  const bareJobs = await openBareJobs(bed);
  const ours: number[] = [];
  const bare: number[] = [];
  const runOurs = async () => {
    const record = await host.run({ kind: "flow", lines: 1, everyMs: 1 });
    ours.push((stampsOf(record.log)[0]?.writtenAt ?? Number.NaN) - record.calledAt);
  };
  const runBare = async () => {
    bare.push(await bareJobs.start());
  };
  const before = await host.usage();
  for (let pair = 0; pair < pairs; pair++) {
    for (const act of pair % 2 === 0 ? [runOurs, runBare] : [runBare, runOurs]) {
      await act();
      await sleep(SETTLE_MS);
    }
  }
  const after = await host.usage();
  const more = median(ours) - median(bare);
  const row: Row = {
    what: `\`execute\` → CLI started, over a bare Job of the same image: medians of ${pairs}`,
    budget: "100 ms more",
    measured: `${ms(more)} more (${ms(median(ours))} against ${ms(median(bare))})`,
    ok: more <= 100,
  };
  return { rows: [row], cost: costPerRun(before, after, pairs) };
}
