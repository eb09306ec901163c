import { setTimeout as sleep } from "node:timers/promises";
import { BUDGETS } from "../budgets.ts";
import { largest, median, ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { lateness, stampedRuns } from "../lines.ts";

const RUNS = 8;
const APART_MS = 437;

/** The first line after a silence, by which time the reader looks seldom. `deaf`: a server that no wake-up reaches. */
export async function measureSilence(host: Host, deaf: Host, seconds: number): Promise<Row[]> {
  const [woken, polled] = await Promise.all([firstLines(host, seconds), firstLines(deaf, seconds)]);
  return [
    row(`first line after ${seconds} s of silence: p50 / max of ${RUNS}`, woken, BUDGETS.silence.woken),
    row(`the same where every wake-up is lost: p50 / max of ${RUNS}`, polled, BUDGETS.silence.polled),
  ];
}

async function firstLines(host: Host, seconds: number): Promise<number[]> {
  const records = await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      await sleep(index * APART_MS);
      return host.run({ kind: "silence", ms: seconds * 1000 });
    }),
  );
  return stampedRuns(records).flatMap(({ stamps }) => stamps.filter(({ n }) => n === 1).map(lateness));
}

function row(what: string, late: readonly number[], budget: number): Row {
  return {
    what,
    budget: `${budget} ms`,
    measured: `${Math.round(median(late))} / ${ms(largest(late))}`,
    ok: late.length === RUNS && largest(late) <= budget,
  };
}
