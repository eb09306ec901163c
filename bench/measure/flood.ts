import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { BUDGETS } from "../budgets.ts";
import type { Row } from "../figures.ts";
import { type Host, startHost } from "../host.ts";
import { lineRows, type StampedRun, stampedRuns } from "../lines.ts";
import type { Address } from "../protocol.ts";
import { settled } from "../settle.ts";
import { flowOf, linesOf, ONE_LINE } from "../stamp.ts";

const RUNS = 10;
const SECONDS = 10;
/** The flood begins when the runs do, and they write until after its end. */
const WRITE_SECONDS = 14;
const PER_SECOND = 100_000;
const SENDERS = 2;

interface Round {
  readonly runs: readonly StampedRun[];
  readonly cpuMs: number;
  readonly sent: number;
}

/** Forged datagrams at the reader's port while runs write: what they cost over the same without them, and what they spoil. */
export async function measureFlood(bed: Bed): Promise<Row[]> {
  const host = startHost(bed);
  try {
    await host.run(ONE_LINE);
    const calm = await round(host, bed, null);
    const { wakeUpAt } = await host.usage();
    const what = `${RUNS} runs under a flood of forged datagrams`;
    if (wakeUpAt === null) return [{ what, budget: "–", measured: "the reader listens for none", ok: null }];
    const flooded = await round(host, bed, wakeUpAt);
    const percent = (flooded.cpuMs - calm.cpuMs) / (SECONDS * 10);
    const name = `${what}, ${SECONDS} s`;
    return [
      {
        what: `CPU of server + reader, ${name}: over the same without it`,
        budget: `${BUDGETS.floodPercent} % of one core`,
        measured: `${percent.toFixed(1)} % (${Math.round(flooded.cpuMs)} ms against ${Math.round(calm.cpuMs)} ms; ${Math.round(flooded.sent / SECONDS).toLocaleString("en")} /s sent)`,
        ok: percent <= BUDGETS.floodPercent,
      },
      ...lineRows(name, flooded.runs, linesOf(flowOf(WRITE_SECONDS)) * RUNS, BUDGETS.polled),
    ];
  } finally {
    await settled(bed);
    host.stop();
  }
}

async function round(host: Host, bed: Bed, target: Address | null): Promise<Round> {
  await settled(bed);
  const before = await host.usage();
  const running = Promise.all(Array.from({ length: RUNS }, () => host.run(flowOf(WRITE_SECONDS))));
  const sent = target === null ? 0 : await flood(target);
  const runs = stampedRuns(await running);
  const after = await host.usage();
  return { runs, sent, cpuMs: after.serverMs + after.readerMs - before.serverMs - before.readerMs };
}

/** How many were sent: a busy machine sends fewer than it is asked for. */
async function flood({ address, port }: Address): Promise<number> {
  const program = fileURLToPath(new URL("../flood-sender.ts", import.meta.url));
  const args = [address, port, PER_SECOND / SENDERS, SECONDS].map(String);
  const counts = Array.from({ length: SENDERS }, async () => {
    const [{ sent }] = (await once(fork(program, args), "message")) as [{ sent: number }];
    return sent;
  });
  return (await Promise.all(counts)).reduce((sum, sent) => sum + sent, 0);
}
