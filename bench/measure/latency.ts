import type { Bed } from "../../testbed/suite/src/bed.ts";
import { BUDGETS, MANY } from "../budgets.ts";
import type { Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { lineRows, returnRow, stampedRuns } from "../lines.ts";
import { settled } from "../settle.ts";
import { flowOf, linesOf } from "../stamp.ts";
import { type Cost, costPerRun } from "./cost.ts";
import { requestsOf } from "./requests.ts";

interface Round {
  readonly rows: Row[];
  readonly cost: Cost;
}

/** Runs at once, each with 5 lines a second: how late its lines are, what is lost, what it costs. */
export async function measureRound(host: Host, bed: Bed, count: number, seconds: number): Promise<Round> {
  const script = flowOf(seconds);
  await settled(bed);
  const from = bed.requests.length;
  const before = await host.usage();
  const records = await Promise.all(Array.from({ length: count }, () => host.run(script)));
  const returned = bed.requests.length;
  // The clean-up is part of what a run costs.
  await settled(bed);
  const after = await host.usage();
  const runs = stampedRuns(records);
  const name = `${count} ${count === 1 ? "run" : "runs"} × 5 lines/s, ${seconds} s`;
  const budget = count >= MANY ? BUDGETS.wokenMany : BUDGETS.woken;
  return {
    rows: [
      ...lineRows(name, runs, linesOf(script) * count, budget),
      returnRow(name, runs, count >= MANY ? BUDGETS.return.many : BUDGETS.return.few),
      requestRow(name, bed, { from, returned }, count),
    ],
    cost: costPerRun(before, after, count),
  };
}

function requestRow(name: string, bed: Bed, { from, returned }: { readonly from: number; readonly returned: number }, count: number): Row {
  const all = requestsOf(bed.requests.slice(from), count);
  const until = requestsOf(bed.requests.slice(from, returned), count);
  return {
    what: `API requests, ${name}: until the last has returned + after it`,
    budget: `${BUDGETS.requestsPerRun} per run, and one list of events`,
    measured: `${until.perRun.toFixed(1)} + ${(all.perRun - until.perRun).toFixed(1)}: ${all.own}; shared: ${all.shared}`,
    // A pod that does not start at once may cost one list of events.
    ok: all.perRun - all.eventLists <= BUDGETS.requestsPerRun && all.eventLists <= 1,
  };
}
