import type { Bed } from "../../testbed/suite/src/bed.ts";
import { largest, mb, median, ms, spread } from "../figures.ts";
import type { HostApi } from "../host-api.ts";
import { latenessOf, lostAndTwice, returnOf, type StampedRun, stampedRuns, startOf } from "../lines.ts";
import { costPerRun } from "../measure/cost.ts";
import { turnsOf } from "../measure/next.ts";
import { requestsOf } from "../measure/requests.ts";
import { swept } from "../settle.ts";
import { flowOf, linesOf, ONE_LINE } from "../stamp.ts";
import type { Compared } from "./compare.ts";
import type { Side } from "./sides.ts";

type Sides = readonly [Side, Side];

/** What each side gives, as the rows of one table. */
async function rowsOf(sides: Sides, measure: (side: Side) => Promise<ReadonlyMap<string, string>>): Promise<Compared[]> {
  const [ours, other] = [await measure(sides[0]), await measure(sides[1])];
  return [...ours].map(([what, figure]) => ({ what, ours: figure, other: other.get(what) ?? "–" }));
}

interface Alone {
  readonly runs: StampedRun[];
  readonly until: number[];
  readonly after: number[];
  /** Null: the adapter keeps its Jobs. */
  readonly goneMs: (number | null)[];
}

/** One run at a time, by turns, so that both meet the same machine. */
export async function comparedAlone(sides: Sides, bed: Bed, rounds: number): Promise<Compared[]> {
  const seen = new Map<Side, Alone>(sides.map((side) => [side, { runs: [], until: [], after: [], goneMs: [] }]));
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
      const from = bed.requests.length;
      const record = await side.host.run(ONE_LINE);
      const returned = bed.requests.length;
      const { runs, until, after, goneMs } = seen.get(side)!;
      goneMs.push(await swept(bed));
      runs.push(...stampedRuns([record]));
      until.push(requestsOf(bed.requests.slice(from, returned), 1).all);
      after.push(requestsOf(bed.requests.slice(returned), 1).all);
    }
  }
  return rowsOf(sides, async (side) => {
    const { runs, until, after, goneMs } = seen.get(side)!;
    const firstLines = runs.map(({ record, stamps }) => (stamps[0]?.seenAt ?? Number.NaN) - record.calledAt);
    const gone = goneMs.filter((each) => each !== null);
    return new Map([
      [`\`execute\` → CLI started, alone: median of ${rounds}`, ms(median(runs.map(startOf)))],
      ["`execute` → first line in the log", ms(median(firstLines))],
      ["last line → `execute` returns", ms(median(runs.map(returnOf)))],
      ["API requests until the result + after it, watches too", `${median(until)} + ${median(after)}`],
      ["result → Job and pod gone", gone.length === 0 ? "kept" : ms(median(gone))],
    ]);
  });
}

/** The same number of runs at once on each side. */
export async function comparedAtOnce(sides: Sides, bed: Bed, count: number, seconds: number): Promise<Compared[]> {
  const script = flowOf(seconds);
  const name = `${count} × 5 lines/s, ${seconds} s`;
  return rowsOf(sides, async ({ host }) => {
    const from = bed.requests.length;
    const before = await host.usage();
    const most = { server: 0, reader: 0 };
    const looking = setInterval(() => {
      const { server, reader } = host.resident();
      if (server + reader > most.server + most.reader) Object.assign(most, { server, reader });
    }, 1000);
    const records = await Promise.all(Array.from({ length: count }, () => host.run(script)));
    clearInterval(looking);
    const returned = bed.requests.length;
    await swept(bed);
    const cost = costPerRun(before, await host.usage(), count);
    const failed = records.filter(({ exitCode }) => exitCode !== 0);
    const runs = stampedRuns(records.filter(({ exitCode }) => exitCode === 0));
    const { lost, twice } = lostAndTwice(runs, linesOf(script) * runs.length);
    const perRun = (entries: Bed["requests"]): string => (requestsOf(entries, count).all / count).toFixed(1);
    return new Map([
      [`runs that failed, ${name}`, failed.length === 0 ? "0" : `${failed.length}: ${failed[0]?.error}`],
      [`\`execute\` → CLI started, ${name}: p50 / max`, `${ms(median(runs.map(startOf)))} / ${ms(largest(runs.map(startOf)))}`],
      [`line written → \`onLog\`, ${name}: p50 / p99 / max`, spread(latenessOf(runs))],
      [`lines lost / twice, ${name}`, `${lost} / ${twice}`],
      [`last line → \`execute\` returns, ${name}: p50 / max`, `${ms(median(runs.map(returnOf)))} / ${ms(largest(runs.map(returnOf)))}`],
      [
        `API requests per run until the last result + after it, ${name}`,
        `${perRun(bed.requests.slice(from, returned))} + ${perRun(bed.requests.slice(returned))}`,
      ],
      [`CPU per run, server + its processes, ${name}`, `${(cost.serverMs / 1000).toFixed(2)} + ${(cost.readerMs / 1000).toFixed(2)} s`],
      [`most memory, server + its processes, ${name}`, `${mb(most.server)} + ${mb(most.reader)}`],
    ]);
  });
}

/** The next run of a task at once after the first, by the same adapter and by another instance of it. */
export async function comparedTurns(sides: Sides, bed: Bed, pairs: number, api: HostApi): Promise<Compared[]> {
  let instance = 0;
  return rowsOf(sides, async ({ host }) => {
    const turns = (next: () => number) =>
      turnsOf(
        host,
        pairs,
        () => ({ host, instance: next() }),
        api,
        () => swept(bed),
      );
    const [same, another] = [await turns(() => 0), await turns(() => ++instance)];
    const text = (values: typeof same): string => `${ms(median(values.next))} (first ${ms(median(values.first))})`;
    await swept(bed);
    return new Map([
      [`next run of the same task → CLI started: medians of ${pairs}`, text(same)],
      ["the same by another adapter instance", text(another)],
    ]);
  });
}
