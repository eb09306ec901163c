import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BUDGETS } from "../budgets.ts";
import { mb, ms, type Row } from "../figures.ts";
import type { Host, HostUsage } from "../host.ts";
import type { RunRecord } from "../protocol.ts";

const EVERY_MS = 1_000;
const WARM_MEGABYTES = 10;
/** Longer than any output takes. */
const QUIET_MS = 3_600_000;

interface Moment {
  readonly server: number;
  readonly reader: number;
}

/** One run that writes a lot: what server and reader have in memory each second, and what is left of it when the run is over, garbage apart. */
export async function measureOutput(host: Host, megabytes: number, report: (text: string) => void): Promise<Row[]> {
  // The reader is there from before the output until after it.
  const runId = `bench-${randomUUID()}`;
  const quiet = host.run({ kind: "silence", ms: QUIET_MS }, { runId });
  while (host.resident().reader === 0) await sleep(100);
  await sleep(EVERY_MS);
  const cold = await host.usage();
  await bulk(host, WARM_MEGABYTES);
  const before = await host.usage();
  const { series, tookMs } = await watched(host, megabytes);
  const after = await host.usage();
  host.cancel(runId);
  await quiet;
  const inMb = (value: (moment: Moment) => number): string => series.map((moment) => Math.round(value(moment) / 1e6)).join(" ");
  report(`resident each second, MB\n  server ${inMb(({ server }) => server)}\n  reader ${inMb(({ reader }) => reader)}`);
  return [
    growthRow(`${megabytes.toLocaleString("en")} MB of output by one run: growth of the server`, [cold, before, after], "rssBytes", tookMs),
    growthRow(
      `${megabytes.toLocaleString("en")} MB of output by one run: growth of the reader`,
      [cold, before, after],
      "readerRssBytes",
      tookMs,
    ),
    {
      what: "the same: resident meanwhile, min–max",
      budget: "–",
      measured: `server ${range(series.map(({ server }) => server))}, reader ${range(series.map(({ reader }) => reader))}`,
      ok: null,
    },
  ];
}

async function bulk(host: Host, megabytes: number): Promise<RunRecord> {
  const record = await host.run({ kind: "bulk", megabytes });
  if (record.exitCode !== 0) throw new Error(`the run failed: ${record.error}`);
  return record;
}

async function watched(host: Host, megabytes: number): Promise<{ readonly series: readonly Moment[]; readonly tookMs: number }> {
  const series: Moment[] = [host.resident()];
  const timer = setInterval(() => series.push(host.resident()), EVERY_MS);
  const { calledAt, returnedAt } = await bulk(host, megabytes).finally(() => clearInterval(timer));
  series.push(host.resident());
  return { series, tookMs: returnedAt - calledAt };
}

/** Held to its budget over a server that has had no output yet; what comes after the first megabytes shows whether the size counts. */
function growthRow(
  what: string,
  usages: readonly [HostUsage, HostUsage, HostUsage],
  key: "rssBytes" | "readerRssBytes",
  tookMs: number,
): Row {
  const [cold, before, after] = usages.map((usage) => usage[key] / 2 ** 20) as [number, number, number];
  return {
    what,
    budget: `${BUDGETS.growthMib} MiB`,
    measured: `${(after - cold).toFixed(1)} MiB resident, ${(after - before).toFixed(1)} of it after the first ${WARM_MEGABYTES} MB; in ${ms(tookMs)}`,
    ok: after - cold <= BUDGETS.growthMib,
  };
}

const range = (values: readonly number[]): string => `${mb(Math.min(...values))}–${mb(Math.max(...values))}`;
