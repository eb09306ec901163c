import { setTimeout as sleep } from "node:timers/promises";
import type { Pocket } from "@paperclip-k8s/pocket";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { BUDGETS, type LineBudget } from "../budgets.ts";
import type { Row } from "../figures.ts";
import type { Host, HostUsage } from "../host.ts";
import { lineRows, stampedRuns } from "../lines.ts";
import { type ManyPods, openManyPods } from "../many-pods.ts";
import type { RunRecord } from "../protocol.ts";
import { settled } from "../settle.ts";
import { ONE_LINE } from "../stamp.ts";

const WRITING = 144;
const ALL = 500;
const SHARE = 0.2;
const SETTLE_MS = 5_000;
/** How runs are followed: as in a cluster, or where no wake-up reaches the server. */
interface Way {
  readonly wakeUps: boolean;
  readonly name: string;
  readonly lines: LineBudget;
}
const WOKEN: Way = { wakeUps: true, name: "", lines: BUDGETS.wokenMany };
const POLLED: Way = { wakeUps: false, name: " without wake-ups", lines: { p50: BUDGETS.polled.p50, p99: BUDGETS.wokenMany.p99 } };

/** More runs than one machine has pods for: real `execute`, watch and reader, pods that sleep, and one process that writes for them. */
export async function measureMany(host: Host, bed: Bed, pocket: Pocket, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const way of [WOKEN, POLLED]) {
    rows.push(...(await allWrite(host, pocket, way, seconds)));
    // The server remembers an ended run for some seconds.
    await settled(bed);
    rows.push(...(await mostAreQuiet(host, bed, pocket, way, seconds)));
    await settled(bed);
  }
  return rows;
}

async function allWrite(host: Host, pocket: Pocket, way: Way, seconds: number): Promise<Row[]> {
  const { pods, records } = await startAll(host, pocket, way, WRITING);
  pods.write(WRITING);
  await sleep(seconds * 1000);
  const written = await pods.end();
  const name = `${WRITING} runs × 5 lines/s${way.name}, ${seconds} s`;
  return lineRows(name, stampedRuns(await Promise.all(records)), written, way.lines);
}

async function mostAreQuiet(host: Host, bed: Bed, pocket: Pocket, way: Way, seconds: number): Promise<Row[]> {
  const empty = await host.usage();
  const { pods, records } = await startAll(host, pocket, way, ALL);
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
  const name = `${ALL} runs, ${ALL * SHARE} of them × 5 lines/s${way.name}, ${seconds} s`;
  return [
    memoryRow(way, empty, quiet),
    {
      what: `API requests at ${ALL} runs${way.name}, steady`,
      budget: `${BUDGETS.requestsPerSecondOf500} /s`,
      measured: `${perSecond.toFixed(2)} /s`,
      ok: perSecond <= BUDGETS.requestsPerSecondOf500,
    },
    cpuShareRow(name, quiet, before, after, seconds),
    ...lineRows(name, stampedRuns(await Promise.all(records)), written, null),
  ];
}

/** All at once, as after a planned restart. */
async function startAll(
  host: Host,
  pocket: Pocket,
  { wakeUps }: Way,
  count: number,
): Promise<{ pods: ManyPods; records: Promise<RunRecord>[] }> {
  const pods = await openManyPods(pocket, wakeUps);
  const records = Array.from({ length: count }, () => host.run(ONE_LINE, { config: { image: pods.image } }));
  await pods.started(count);
  void Promise.all(records).then(pods.stop);
  return { pods, records };
}

function memoryRow(way: Way, empty: HostUsage, quiet: HostUsage): Row {
  const kib = (after: number, before: number): number => (after - before) / ALL / 1024;
  const heap = kib(quiet.heapBytes, empty.heapBytes);
  const rss = kib(quiet.rssBytes, empty.rssBytes);
  return {
    what: `memory per quiet run, from ${ALL}${way.name}`,
    budget: `${BUDGETS.memoryPerQuietRunKib} KiB`,
    measured: `${heap.toFixed(1)} KiB of heap (resident: ${rss.toFixed(0)} KiB)`,
    ok: heap <= BUDGETS.memoryPerQuietRunKib,
  };
}

function cpuShareRow(name: string, quiet: HostUsage, before: HostUsage, after: HostUsage, seconds: number): Row {
  const share = (from: HostUsage, to: HostUsage): number => (to.serverMs + to.readerMs - from.serverMs - from.readerMs) / (seconds * 10);
  const busy = share(before, after);
  return {
    what: `CPU, ${name}`,
    budget: `${BUDGETS.cpuOf500Percent} % of one core`,
    measured: `${busy.toFixed(1)} % (all quiet: ${share(quiet, before).toFixed(1)} %)`,
    ok: busy <= BUDGETS.cpuOf500Percent,
  };
}
