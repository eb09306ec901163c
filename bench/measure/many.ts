import { setTimeout as sleep } from "node:timers/promises";
import type { Pocket } from "@paperclip-k8s/pocket";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { median, percentile, type Row, spread } from "../figures.ts";
import type { Host, HostUsage } from "../host.ts";
import { type ManyPods, openManyPods } from "../many-pods.ts";
import type { RunRecord } from "../server.ts";
import { stampsOf } from "../stamp.ts";

const WRITING = 144;
const ALL = 500;
const SHARE = 0.2;
const SETTLE_MS = 5_000;

/** More runs than one machine has pods for: real `execute`, watch and reader, pods that sleep, and one process that writes for them. */
export async function measureMany(host: Host, bed: Bed, pocket: Pocket, seconds: number): Promise<Row[]> {
  return [...(await allWrite(host, pocket, seconds)), ...(await mostAreQuiet(host, bed, pocket, seconds))];
}

async function allWrite(host: Host, pocket: Pocket, seconds: number): Promise<Row[]> {
  const { pods, records } = await startAll(host, pocket, WRITING);
  pods.write(WRITING);
  await sleep(seconds * 1000);
  const written = await pods.end();
  return lineRows(`${WRITING} runs × 5 lines/s, ${seconds} s`, await Promise.all(records), written, true);
}

async function mostAreQuiet(host: Host, bed: Bed, pocket: Pocket, seconds: number): Promise<Row[]> {
  const empty = await host.usage();
  const { pods, records } = await startAll(host, pocket, ALL);
  await sleep(SETTLE_MS);
  const quiet = await host.usage();
  const requests = bed.requests.length;
  await sleep(seconds * 1000);
  const perSecond = (bed.requests.length - requests) / seconds;
  const before = await host.usage();
  pods.write(ALL * SHARE);
  await sleep(seconds * 1000);
  const after = await host.usage();
  const written = await pods.end();
  const name = `${ALL} runs, ${ALL * SHARE} of them × 5 lines/s, ${seconds} s`;
  return [
    memoryRow(empty, quiet),
    { what: `API requests at ${ALL} runs, steady`, budget: "0.1 /s", measured: `${perSecond.toFixed(2)} /s`, ok: perSecond <= 0.1 },
    cpuShareRow(name, quiet, before, after, seconds),
    ...lineRows(name, await Promise.all(records), written, false),
  ];
}

/** All at once, as after a planned restart. */
async function startAll(host: Host, pocket: Pocket, count: number): Promise<{ pods: ManyPods; records: Promise<RunRecord>[] }> {
  const pods = await openManyPods(pocket);
  const records = Array.from({ length: count }, () => host.run({ kind: "flow", lines: 1, everyMs: 1 }, { config: { image: pods.image } }));
  await pods.started(count);
  void Promise.all(records).then(pods.stop);
  return { pods, records };
}

function lineRows(name: string, records: readonly RunRecord[], written: number, budgeted: boolean): Row[] {
  const failed = records.find((record) => record.exitCode !== 0);
  if (failed !== undefined) throw new Error(`a synthetic run failed: ${failed.error}`);
  const runs = records.map((record) => stampsOf(record.log));
  const late = runs.flat().map((stamp) => stamp.seenAt - stamp.writtenAt);
  const distinct = runs.reduce((sum, stamps) => sum + new Set(stamps.map((stamp) => stamp.n)).size, 0);
  return [
    {
      what: `line written → \`onLog\`, ${name}: p50 / p99 / max`,
      budget: budgeted ? "15 / 50 ms" : "–",
      measured: spread(late),
      ok: budgeted ? median(late) <= 15 && percentile(late, 0.99) <= 50 : null,
    },
    {
      what: `lines lost / twice, ${name}`,
      budget: "0 / 0",
      measured: `${written - distinct} / ${late.length - distinct} of ${written.toLocaleString("en")}`,
      ok: written === distinct && late.length === distinct,
    },
  ];
}

function memoryRow(empty: HostUsage, quiet: HostUsage): Row {
  const kib = (after: number, before: number): number => (after - before) / ALL / 1024;
  const heap = kib(quiet.heapBytes, empty.heapBytes);
  const rss = kib(quiet.rssBytes, empty.rssBytes);
  return {
    what: `memory per quiet run, from ${ALL}`,
    budget: "32 KiB",
    measured: `${heap.toFixed(1)} KiB of heap (resident: ${rss.toFixed(0)} KiB)`,
    ok: heap <= 32,
  };
}

function cpuShareRow(name: string, quiet: HostUsage, before: HostUsage, after: HostUsage, seconds: number): Row {
  const share = (from: HostUsage, to: HostUsage): number => (to.serverMs + to.readerMs - from.serverMs - from.readerMs) / (seconds * 10);
  const busy = share(before, after);
  return {
    what: `CPU, ${name}`,
    budget: "25 % of one core",
    measured: `${busy.toFixed(1)} % (all quiet: ${share(quiet, before).toFixed(1)} %)`,
    ok: busy <= 25,
  };
}
