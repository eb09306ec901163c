import { setTimeout as sleep } from "node:timers/promises";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { type BareJobs, openBareJobs } from "../bare-job.ts";
import { BUDGETS } from "../budgets.ts";
import { largest, median, ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { stampedRuns, startOf } from "../lines.ts";
import { settled } from "../settle.ts";
import { ONE_LINE, type Script } from "../stamp.ts";
import { type Cost, costPerRun } from "./cost.ts";

const SETTLE_MS = 1_000;
const AT_ONCE = [10, 30];
const ROUNDS = 3;
/** What starts at once goes on until all have started, as agents do: the ends of the first are not in the way of the last. */
const LASTS_MS = 15_000;

/** `execute` and a bare Job of the same image in turns, so that both meet the same machine; then many of each at once. */
export async function measureStart(host: Host, bed: Bed, pairs: number): Promise<{ rows: Row[]; cost: Cost }> {
  const bareJobs = await openBareJobs(bed);
  const before = await host.usage();
  const alone = await inTurns(host, bareJobs, { count: 1, rounds: pairs, lastsMs: 0, pause: () => sleep(SETTLE_MS) });
  await settled(bed);
  const after = await host.usage();
  const more = median(alone.ours) - median(alone.bare);
  const rows: Row[] = [
    {
      what: `\`execute\` → CLI started, over a bare Job of the same image: medians of ${pairs}`,
      budget: `${BUDGETS.start} ms more`,
      measured: `${ms(more)} more (${ms(median(alone.ours))} against ${ms(median(alone.bare))})`,
      ok: more <= BUDGETS.start,
    },
  ];
  for (const count of AT_ONCE) {
    const starts = await inTurns(host, bareJobs, { count, rounds: ROUNDS, lastsMs: LASTS_MS, pause: () => settled(bed) });
    rows.push(atOnceRow(bed, count, starts));
  }
  return { rows, cost: costPerRun(before, after, pairs) };
}

interface Starts {
  readonly ours: readonly number[];
  readonly bare: readonly number[];
}

interface Turns {
  readonly count: number;
  readonly rounds: number;
  readonly lastsMs: number;
  readonly pause: () => Promise<void>;
}

async function inTurns(host: Host, bareJobs: BareJobs, { count, rounds, lastsMs, pause }: Turns): Promise<Starts> {
  const ours: number[] = [];
  const bare: number[] = [];
  const script: Script = lastsMs === 0 ? ONE_LINE : { kind: "silence", ms: lastsMs };
  const runOurs = async () => {
    const records = await Promise.all(Array.from({ length: count }, () => host.run(script)));
    ours.push(...stampedRuns(records).map(startOf));
  };
  const runBare = async () => void bare.push(...(await bareJobs.start(count, lastsMs)));
  for (let round = 0; round < rounds; round++) {
    for (const act of round % 2 === 0 ? [runOurs, runBare] : [runBare, runOurs]) {
      await act();
      await pause();
    }
  }
  return { ours, bare };
}

function atOnceRow(bed: Bed, count: number, { ours, bare }: Starts): Row {
  const ratios = [median(ours) / median(bare), largest(ours) / largest(bare)];
  const pair = (values: readonly number[]): string => `${Math.round(median(values)).toLocaleString("en")} / ${ms(largest(values))}`;
  return {
    what: `\`execute\` → CLI started, ${count} at once, over ${count} bare Jobs: p50 / max of ${ROUNDS} rounds`,
    // A bare Job of the embedded cluster is no more than one process.
    budget: bed.kind === "kube" ? `${BUDGETS.startAtOnce} ×` : "–",
    measured: `${ratios.map((ratio) => ratio.toFixed(2)).join(" / ")} × (${pair(ours)} against ${pair(bare)})`,
    ok: bed.kind === "kube" ? ratios.every((ratio) => ratio <= BUDGETS.startAtOnce) : null,
  };
}
