import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { openBareJobs } from "../bare-job.ts";
import { median, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import { stampedRuns } from "../lines.ts";
import { type PodUsage, podUsage } from "../pod-usage.ts";

const ROUNDS = 2;
const IDLE_MS = 8_000;
/** The measuring comes before the end, and on a busy machine a pod starts late. */
const LOOK_AFTER_MS = 6_000;

/** What the runner costs in its pod: CPU and memory around a CLI that does nothing, over the same program in a bare Job. */
export async function measurePod(host: Host, bed: Bed): Promise<Row[]> {
  const bareJobs = await openBareJobs(bed);
  const ours: PodUsage[] = [];
  const bare: PodUsage[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const name = await bareJobs.idle(IDLE_MS);
    await sleep(LOOK_AFTER_MS);
    bare.push(await podUsage(bed, ({ metadata }) => metadata.labels?.["job-name"] === name));
    await bareJobs.remove(name);
    const runId = `bench-${randomUUID()}`;
    const record = host.run({ kind: "silence", ms: IDLE_MS }, { runId, until: null });
    await started(bed, runId);
    await sleep(LOOK_AFTER_MS);
    ours.push(await podUsage(bed, ({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === runId));
    stampedRuns([await record]);
  }
  const of = (usages: readonly PodUsage[], value: (usage: PodUsage) => number): number => median(usages.map(value));
  const row = (what: string, unit: string, value: (usage: PodUsage) => number, digits: number): Row => {
    const [own, other] = [of(ours, value), of(bare, value)];
    const text = (figure: number): string => `${figure.toFixed(digits)} ${unit}`;
    const measured = `${text(own - other)} more (${text(own)} against ${text(other)})`;
    return {
      what: `${what} of a pod whose CLI is idle for ${LOOK_AFTER_MS / 1000} s, over a bare Job: medians of ${ROUNDS}`,
      budget: "–",
      measured,
      ok: null,
    };
  };
  return [row("CPU", "s", ({ cpuMs }) => cpuMs / 1000, 2), row("most memory", "MB", ({ peakBytes }) => peakBytes / 1e6, 0)];
}

/** The container runs, as the cluster says. */
async function started(bed: Bed, runId: string): Promise<void> {
  for (;;) {
    const pod = (await bed.list("pods")).find(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === runId);
    if ((pod?.status as { readonly phase?: string } | undefined)?.phase === "Running") return;
    await sleep(50);
  }
}
