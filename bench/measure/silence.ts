import { setTimeout as sleep } from "node:timers/promises";
import { largest, median, ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { stampsOf } from "../stamp.ts";

const RUNS = 8;
const APART_MS = 437;

/** The first line after a silence, by which time the reader looks seldom. */
export async function measureSilence(host: Host, seconds: number): Promise<Row[]> {
  const records = await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      await sleep(index * APART_MS);
      return host.run({ kind: "silence", ms: seconds * 1000 });
    }),
  );
  const late = records.flatMap((record) => stampsOf(record.log).filter((stamp) => stamp.n === 1)).map((s) => s.seenAt - s.writtenAt);
  return [
    {
      what: `first line after ${seconds} s of silence: p50 / max of ${RUNS}`,
      budget: "300 ms",
      measured: `${Math.round(median(late))} / ${ms(largest(late))}`,
      ok: late.length === RUNS && largest(late) <= 300,
    },
  ];
}
