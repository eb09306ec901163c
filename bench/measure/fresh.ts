import { setTimeout as sleep } from "node:timers/promises";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { BUDGETS } from "../budgets.ts";
import { mb, type Row } from "../figures.ts";
import { type Host, type HostUsage, startHost } from "../host.ts";
import { stampedRuns } from "../lines.ts";
import type { Delays } from "../protocol.ts";
import { settled } from "../settle.ts";
import { flowOf, ONE_LINE } from "../stamp.ts";

const AT_ONCE = [10, 30];
const SECONDS = 6;

/** A server that has just been started: what its first run costs it, how long its event loop is blocked, what it keeps in memory. */
export async function measureFresh(bed: Bed): Promise<Row[]> {
  const host = startHost(bed);
  try {
    await settled(bed);
    const empty = await host.usage();
    await host.delays();
    stampedRuns([await host.run(ONE_LINE)]);
    const blocked = await host.delays();
    const after = await host.usage();
    const rows: Row[] = [
      blockedRow("a first `execute` of a fresh server", blocked),
      { what: "the same: CPU", budget: "–", measured: cpuText(empty, after), ok: null },
    ];
    rows.push(await lone(host, empty));
    for (const count of AT_ONCE) rows.push(...(await atOnce(host, bed, count)));
    return rows;
  } finally {
    await settled(bed);
    host.stop();
  }
}

/** While a run is at work, its server's memory as the kernel counts it. */
async function lone(host: Host, empty: HostUsage): Promise<Row> {
  const run = host.run(flowOf(SECONDS));
  await sleep((SECONDS * 1000) / 2);
  const memory = await host.usage();
  stampedRuns([await run]);
  return {
    what: "memory of server + reader, one run",
    budget: "–",
    measured: `${memoryText(memory)}; server before its first run ${mb(empty.rssBytes)}`,
    ok: null,
  };
}

async function atOnce(host: Host, bed: Bed, count: number): Promise<Row[]> {
  await settled(bed);
  await host.delays();
  const runs = Promise.all(Array.from({ length: count }, () => host.run(flowOf(SECONDS))));
  const records = await runs;
  const blocked = await host.delays();
  stampedRuns(records);
  const memory = await host.usage();
  return [
    blockedRow(`${count} runs at once`, blocked),
    { what: `memory of server + reader after ${count} runs at once`, budget: "–", measured: memoryText(memory), ok: null },
  ];
}

function blockedRow(name: string, { maxMs, p99Ms, cpuMs }: Delays): Row {
  return {
    what: `event loop blocked during ${name}: max / p99`,
    budget: `${BUDGETS.blocked} ms`,
    measured: `${maxMs.toFixed(0)} / ${p99Ms.toFixed(1)} ms; at most ${cpuMs.toFixed(0)} ms of CPU at a stretch`,
    ok: maxMs <= BUDGETS.blocked,
  };
}

const cpuText = (before: HostUsage, after: HostUsage): string =>
  `server ${((after.serverMs - before.serverMs) / 1000).toFixed(2)} s, reader ${((after.readerMs - before.readerMs) / 1000).toFixed(2)} s`;

const memoryText = ({ rssBytes, readerRssBytes }: HostUsage): string =>
  `${mb(rssBytes + readerRssBytes)}: server ${mb(rssBytes)}, reader ${mb(readerRssBytes)}`;
