import type { Bed } from "../../testbed/suite/src/bed.ts";
import { ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { stampedRuns } from "../lines.ts";
import { settled, untilGone } from "../settle.ts";
import { ONE_LINE } from "../stamp.ts";
import { requestsOf } from "./requests.ts";

const AT_ONCE = [1, 10, 30];
const LOOK_MS = 50;

/** What is left of runs after their results, until when, and how many requests that takes. */
export async function measureCleanUp(host: Host, bed: Bed): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of AT_ONCE) rows.push(...(await cleanUpOf(host, bed, count)));
  return rows;
}

async function cleanUpOf(host: Host, bed: Bed, count: number): Promise<Row[]> {
  await settled(bed);
  const from = bed.requests.length;
  stampedRuns(await Promise.all(Array.from({ length: count }, () => host.run(ONE_LINE))));
  const returned = bed.requests.length;
  const gone = await untilGone(bed, ["jobs", "secrets", "pods"], LOOK_MS);
  const perRun = (entries: Bed["requests"]): string => requestsOf(entries, count).perRun.toFixed(1);
  const name = `${count} ${count === 1 ? "run" : "runs at once"}`;
  return [
    {
      what: `result → Job / Secret / pod gone, ${name}`,
      budget: "–",
      measured: [gone.jobs, gone.secrets, gone.pods].map(ms).join(" / "),
      ok: null,
    },
    {
      what: `API requests per run until the last result + after it, ${name} of one line`,
      budget: "–",
      measured: `${perRun(bed.requests.slice(from, returned))} + ${perRun(bed.requests.slice(returned))}`,
      ok: null,
    },
  ];
}
