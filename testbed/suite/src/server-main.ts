// A server process for the tests of restarts: runs what it is given, reports on stdout, and is killed in the middle of it.
import type { LockDecision, LockOwner } from "@paperclip-k8s/engine";
import type { Bed } from "./bed.ts";
import { startRun } from "./run.ts";
import type { ServerNews, ServerOrder, ServerRun } from "./server-process.ts";
import { createFileClock } from "./test-clock.ts";

const order = JSON.parse(process.argv[2] ?? "{}") as ServerOrder;
const bed = { ...order.bed, images: { agent: order.bed.agent } } as unknown as Bed;
const ending = new AbortController();
// A host ends itself on SIGTERM without waiting for its runs, at once or some seconds later.
process.on("SIGTERM", () => {
  ending.abort();
  if (order.livesOn) tell({ event: "ending" });
  else process.exit(0);
});
// The test is gone, or wants it to end now.
process.stdin.on("end", () => process.exit(0)).resume();

const clock = order.clockFile === null ? undefined : createFileClock(order.clockFile);
const tell = (news: ServerNews) => process.stdout.write(`${JSON.stringify(news)}\n`);

/** As a host that knows which of its runs continues which, and which have their end on record. */
const onLockConflict =
  ({ continues, recorded }: ServerRun) =>
  async ({ runId, finished }: LockOwner): Promise<LockDecision> => {
    if (runId !== null && continues.includes(runId)) return { kind: "adopt" };
    return finished && runId !== null && recorded?.includes(runId) ? { kind: "remove", why: "on record" } : { kind: "wait" };
  };

async function live(run: ServerRun): Promise<void> {
  const handle = startRun(bed, {
    script: run.script,
    runId: run.runId,
    onLockConflict: onLockConflict(run),
    engine: { timeouts: order.timeouts, lingerMs: order.lingerMs, ending: ending.signal, ...(clock && { clock }) },
    change: (request) => ({ ...request, exclusive: run.key, name: { prefix: "suite-", parts: [run.key], identity: run.key } }),
    onStatus: ({ text }) => void tell({ event: "status", runId: run.runId, text }),
    onOutput: (bytes) => void tell({ event: "output", runId: run.runId, text: bytes.toString() }),
  });
  const { outcome, status } = await handle.done;
  tell({ event: "done", runId: run.runId, outcome, status: [...status] });
}

await Promise.all(order.runs.map(live));
