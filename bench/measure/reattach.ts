import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { createEngine } from "@paperclip-k8s/engine";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { keyed, startRun } from "../../testbed/suite/src/run.ts";
import { ServerProcess } from "../../testbed/suite/src/server-process.ts";
import { BUDGETS } from "../budgets.ts";
import { ms, type Row } from "../figures.ts";

const RUNS = 500;
/** Of the requests' pace: what may go at once, and what goes in a second. */
const PACE = { burst: 100, perSecond: 250 };

/** A server comes back to many live runs and takes all of them over at once: how long that takes, and how densely it asks. */
export async function measureReattach(bed: Bed): Promise<Row[]> {
  // Pods that wait for a node are as good to take over, and cost no process.
  const nowhere = await bed.faults.unschedulable();
  const lost = Array.from({ length: RUNS }, () => ({ runId: randomUUID(), key: randomUUID(), script: "", continues: [] }));
  const server = new ServerProcess(bed, lost);
  while ((await bed.list("secrets")).length < RUNS) await sleep(100);
  await server.kill();
  const begun: number[] = [];
  const note = () => void begun.push(performance.now());
  subscribe("http.client.request.start", note);
  const from = performance.now();
  const engine = createEngine();
  const adopt = async () => ({ kind: "adopt" }) as const;
  const runs = lost.map(({ key }) => startRun(bed, keyed(key, { script: "", server: engine, onLockConflict: adopt })));
  const adopted = () => runs.every(({ status }) => status.some(({ text }) => text.startsWith("adopted Job")));
  while (!adopted()) await sleep(10);
  const took = performance.now() - from;
  unsubscribe("http.client.request.start", note);
  const most = densest(begun);
  for (const run of runs) run.cancel("measured");
  await Promise.all(runs.map((run) => run.done));
  await nowhere.undo();
  return [
    {
      what: `${RUNS} live runs taken over after a restart`,
      budget: ms(BUDGETS.reattach),
      measured: ms(took),
      ok: took <= BUDGETS.reattach,
    },
    {
      what: "requests meanwhile: all / most in one second",
      budget: `– / ${PACE.burst + PACE.perSecond}`,
      measured: `${begun.length.toLocaleString("en")} / ${most}`,
      // A second of the measuring is not exactly one of the pace's.
      ok: most <= (PACE.burst + PACE.perSecond) * 1.1,
    },
  ];
}

/** The most that fall into one second. */
function densest(times: readonly number[]): number {
  let from = 0;
  let most = 0;
  for (const [place, at] of times.entries()) {
    while ((times[from] ?? at) < at - 1000) from++;
    most = Math.max(most, place - from + 1);
  }
  return most;
}
