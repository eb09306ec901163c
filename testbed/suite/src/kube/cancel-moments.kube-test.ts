import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createEngine, deferred, type StatusLine } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "../bed.ts";
import { startRun } from "../run.ts";

// Cancels at random moments of a run's first three seconds, and as many around its container's start. Real cluster only: the kubelet sends SIGTERM
// to a container whose first process has no handler for it yet.

const COUNT = process.env.LONG ? 500 : 24;
const AT_ONCE = 6;
const FIRST_MS = 3000;
/** From the pod's being scheduled. */
const START_MS = 1500;

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

interface Cancelled {
  readonly afterMs: number;
  readonly answeredMs: number;
  readonly stopped: boolean;
  /** When the CLI was started, counted from the cancel; null = it was not. */
  readonly startedMs: number | null;
}

async function cancelAt(isAtStart: boolean, server: ReturnType<typeof createEngine>, name: string): Promise<Cancelled> {
  const mark = `${bed.data}/started-${name}`;
  // A shell starts at once, so that the time is that of the CLI's start.
  const argv = ["sh", "-c", `date +%s%3N > ${mark}; exec sleep 600`] as const;
  const begun = Date.now();
  const scheduled = deferred<void>();
  const onStatus = ({ text }: StatusLine) => text.startsWith("pod scheduled") && scheduled.resolve();
  const run = startRun(bed, { argv, server, onStatus: (line) => void onStatus(line) });
  if (isAtStart) await scheduled.promise;
  await sleep(Math.random() * (isAtStart ? START_MS : FIRST_MS));
  const at = Date.now();
  run.cancel("by an operator");
  const { outcome } = await run.done;
  const answeredMs = Date.now() - at;
  expect(outcome.kind).toBe("cancelled");
  const startedMs = existsSync(mark) ? Number(readFileSync(mark, "utf8")) - at : null;
  return { afterMs: at - begun, answeredMs, stopped: outcome.kind === "cancelled" && outcome.stopped, startedMs };
}

test(`${COUNT} cancels: each is confirmed, and no CLI works on`, { timeout: COUNT * 60_000 }, async () => {
  const seen: Cancelled[] = [];
  const server = createEngine();
  const worker = async (id: number) => {
    for (let nth = id; nth < COUNT; nth += AT_ONCE) seen.push(await cancelAt(nth % 2 === 1, server, String(nth)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, id) => worker(id)));
  const late = seen.filter(({ startedMs }) => startedMs !== null && startedMs > 0);
  const answers = seen.map(({ answeredMs }) => answeredMs).sort((a, b) => a - b);
  const at = (share: number) => answers[Math.min(answers.length - 1, Math.floor(share * answers.length))];
  console.log(
    `cancels: ${COUNT}; answered p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${answers.at(-1)} ms; ` +
      `not confirmed ${seen.filter(({ stopped }) => !stopped).length}; CLI started before the cancel ${seen.filter(({ startedMs }) => startedMs !== null && startedMs <= 0).length}, ` +
      `after it ${late.length}${late.length === 0 ? "" : ` (${late.map(({ startedMs }) => `${startedMs} ms`).join(", ")})`}`,
  );
  expect(seen.filter(({ stopped }) => !stopped)).toEqual([]);
});
