import type { Bed } from "../../testbed/suite/src/bed.ts";
import { type CancelTimes, cancelRun, OBEDIENT } from "../../testbed/suite/src/cancel-times.ts";
import { startRun } from "../../testbed/suite/src/run.ts";
import { median, type Row } from "../figures.ts";

const TIMES = 5;

/** A cancel while the CLI is at work: until it gets SIGTERM, until the caller has its result, until the Job is gone. */
export async function measureCancel(bed: Bed): Promise<Row[]> {
  const times: CancelTimes[] = [];
  for (let time = 0; time < TIMES; time++) {
    const run = startRun(bed, { script: OBEDIENT });
    await run.saw("on\n");
    times.push((await cancelRun("bench", run)).times);
  }
  const of = (value: (each: CancelTimes) => number | null) => Math.round(median(times.map((each) => value(each) ?? Number.NaN)));
  const measured = `${of(({ term }) => term)} / ${of(({ returned }) => returned)} / ${of(({ gone }) => gone.Job)} ms`;
  return [{ what: `cancel → SIGTERM / returned / Job gone: medians of ${TIMES}`, budget: "–", measured, ok: null }];
}
