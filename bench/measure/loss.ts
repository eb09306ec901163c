import type { Bed } from "../../testbed/suite/src/bed.ts";
import { BUDGETS } from "../budgets.ts";
import type { Row } from "../figures.ts";
import { startHost } from "../host.ts";
import { lineRows, stampedRuns } from "../lines.ts";
import { settled } from "../settle.ts";
import { flowOf, linesOf, ONE_LINE } from "../stamp.ts";

const RUNS = 10;
const SHARES = [
  { loss: 0, budget: BUDGETS.woken },
  // Every second line waits for the next look at the file.
  { loss: 0.5, budget: BUDGETS.polled },
  { loss: 1, budget: BUDGETS.polled },
];

/** How late lines are when wake-ups get lost at random: all of them lost is polling alone. */
export async function measureLoss(bed: Bed, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { loss, budget } of SHARES) {
    const host = startHost(bed, { loss });
    await host.run(ONE_LINE);
    await settled(bed);
    const script = flowOf(seconds);
    const runs = stampedRuns(await Promise.all(Array.from({ length: RUNS }, () => host.run(script))));
    const name = `${RUNS} runs × 5 lines/s, ${seconds} s, ${loss * 100} % of wake-ups lost`;
    rows.push(...lineRows(name, runs, linesOf(script) * RUNS, budget));
    await settled(bed);
    host.stop();
  }
  return rows;
}
