import type { Bed } from "../../testbed/suite/src/bed.ts";
import { largest, median, ms, percentile, type Row, spread } from "../figures.ts";
import type { Host } from "../host.ts";
import type { RunRecord } from "../server.ts";
import { linesOf, type Script, type Stamped, stampsOf } from "../stamp.ts";
import { type Cost, costPerRun } from "./cost.ts";
import { requestsOf } from "./requests.ts";

const EVERY_MS = 200;

interface Round {
  readonly rows: Row[];
  readonly cost: Cost;
}

/** Runs at once, each with 5 lines a second: how late its lines are, what is lost, what it costs. */
export async function measureRound(host: Host, bed: Bed, count: number, seconds: number): Promise<Round> {
  const script: Script = { kind: "flow", lines: (seconds * 1000) / EVERY_MS, everyMs: EVERY_MS };
  const requests = bed.requests.length;
  const before = await host.usage();
  const records = await Promise.all(Array.from({ length: count }, () => host.run(script)));
  const after = await host.usage();
  for (const { exitCode, error } of records) if (exitCode !== 0) throw new Error(`a run of the bench failed: ${error ?? exitCode}`);
  const runs = records.map((record) => ({ record, stamps: stampsOf(record.log) }));
  const name = `${count} ${count === 1 ? "run" : "runs"} × 5 lines/s, ${seconds} s`;
  return {
    rows: [...lineRows(name, runs, script), returnRow(name, runs), await requestRow(name, bed, requests, count)],
    cost: costPerRun(before, after, count),
  };
}

interface Run {
  readonly record: RunRecord;
  readonly stamps: readonly Stamped[];
}

const lateness = (stamp: Stamped): number => stamp.seenAt - stamp.writtenAt;

function lineRows(name: string, runs: readonly Run[], script: Script): Row[] {
  const late = runs.flatMap(({ stamps }) => stamps.map(lateness));
  const first = runs.flatMap(({ stamps }) => stamps.slice(0, 1).map(lateness));
  const expected = linesOf(script) * runs.length;
  const distinct = runs.reduce((sum, { stamps }) => sum + new Set(stamps.map((stamp) => stamp.n)).size, 0);
  return [
    {
      what: `line written → \`onLog\`, ${name}: p50 / p99 / max`,
      budget: "15 / 50 ms",
      measured: `${spread(late)}; first lines ${spread(first)}`,
      ok: median(late) <= 15 && percentile(late, 0.99) <= 50,
    },
    {
      what: `lines lost / twice, ${name}`,
      budget: "0 / 0",
      measured: `${expected - distinct} / ${late.length - distinct} of ${expected.toLocaleString("en")}`,
      ok: distinct === expected && late.length === distinct,
    },
  ];
}

function returnRow(name: string, runs: readonly Run[]): Row {
  const waits = runs.map(({ record, stamps }) => record.returnedAt - (stamps.at(-1)?.writtenAt ?? record.calledAt));
  return {
    what: `last line → \`execute\` returns, ${name}: p50 / max`,
    budget: "500 ms",
    measured: `${Math.round(median(waits))} / ${ms(largest(waits))}`,
    ok: largest(waits) <= 500,
  };
}

async function requestRow(name: string, bed: Bed, from: number, count: number): Promise<Row> {
  const { own, shared, perRun } = requestsOf(bed.requests.slice(from), count);
  return {
    what: `API requests, ${name}`,
    budget: "3 per run",
    measured: `${perRun.toFixed(1)}: ${own}; shared: ${shared}`,
    ok: perRun <= 3,
  };
}
