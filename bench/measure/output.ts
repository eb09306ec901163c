import { ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";

const MEGABYTES = 100;
const BUDGET_MIB = 4;

/** One run that writes a lot: what the server's memory has grown by when it is over, garbage apart. */
export async function measureOutput(host: Host): Promise<Row[]> {
  const before = await host.usage();
  const record = await host.run({ kind: "bulk", megabytes: MEGABYTES });
  if (record.exitCode !== 0) throw new Error(`the run failed: ${record.error}`);
  const after = await host.usage();
  const grown = (after.rssBytes - before.rssBytes) / 2 ** 20;
  const heap = (after.heapBytes - before.heapBytes) / 2 ** 20;
  return [
    {
      what: `${MEGABYTES} MB of output by one run: growth of the server`,
      budget: `${BUDGET_MIB} MiB`,
      measured: `${grown.toFixed(1)} MiB resident, ${heap.toFixed(1)} MiB of heap, in ${ms(record.returnedAt - record.calledAt)}`,
      ok: grown <= BUDGET_MIB,
    },
  ];
}
