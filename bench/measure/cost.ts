import { BUDGETS } from "../budgets.ts";
import type { Row } from "../figures.ts";
import type { HostUsage } from "../host.ts";

const LONG_SEC = 60;

/** What one run has cost on average. */
export interface Cost {
  readonly serverMs: number;
  readonly readerMs: number;
}

export function costPerRun(before: HostUsage, after: HostUsage, runs: number): Cost {
  return { serverMs: (after.serverMs - before.serverMs) / runs, readerMs: (after.readerMs - before.readerMs) / runs };
}

/** A round's CPU, taken to a run of a minute: what a run costs at any length once, the rest by its length. */
export function cpuRow(runs: number, seconds: number, cost: Cost, anyLength: Cost): Row {
  const scale = (whole: number, once: number): number => once + (Math.max(0, whole - once) * LONG_SEC) / seconds;
  const server = scale(cost.serverMs, anyLength.serverMs) / 1000;
  const reader = scale(cost.readerMs, anyLength.readerMs) / 1000;
  return {
    what: `our CPU for a ${LONG_SEC} s run with 5 lines/s, from ${runs} at once for ${seconds} s`,
    budget: `${BUDGETS.cpuOfMinuteSec.toFixed(2)} s`,
    measured: `${(server + reader).toFixed(2)} s: server ${server.toFixed(2)}, reader ${reader.toFixed(2)}`,
    ok: server + reader <= BUDGETS.cpuOfMinuteSec,
  };
}
