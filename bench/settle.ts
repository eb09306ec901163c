import { setTimeout as sleep } from "node:timers/promises";
import type { Bed, BedKind } from "../testbed/suite/src/bed.ts";

const LIMIT_MS = 120_000;
/** What another adapter has not removed by then, it keeps on purpose. */
const KEPT_MS = 15_000;

/** Waits until nothing of these kinds is left; how long that took for each. Events of the cluster's own are nobody's. */
export async function untilGone<Kind extends BedKind>(
  bed: Bed,
  kinds: readonly Kind[],
  everyMs: number,
  limitMs = LIMIT_MS,
): Promise<Record<Kind, number>> {
  const from = Date.now();
  const took = {} as Record<Kind, number>;
  while (Date.now() < from + limitMs) {
    for (const kind of kinds) if (took[kind] === undefined && (await isEmpty(bed, kind))) took[kind] = Date.now() - from;
    if (kinds.every((kind) => took[kind] !== undefined)) return took;
    await sleep(everyMs);
  }
  throw new Error(`still there after ${limitMs / 1000} s: ${kinds.filter((kind) => took[kind] === undefined).join(", ")}`);
}

/** What stands for the server's own pod is nobody's run. */
const isEmpty = async (bed: Bed, kind: BedKind): Promise<boolean> =>
  (await bed.list(kind)).every(({ metadata }) => metadata.labels?.[STAYS] !== undefined);

/** The label of what the bench itself has put there. */
export const STAYS = "bench.test/stays";

/** Nothing of an earlier measurement is in the way of the next one. */
export const settled = async (bed: Bed): Promise<void> => void (await untilGone(bed, ["jobs", "pods", "secrets"], 250));

/** The same after runs of any adapter: Jobs that it keeps are deleted here. How long until they were gone, null: it keeps them. */
export async function swept(bed: Bed, everyMs = 100): Promise<number | null> {
  try {
    const { jobs, pods } = await untilGone(bed, ["jobs", "pods"], everyMs, KEPT_MS);
    return Math.max(jobs, pods);
  } catch {
    for (const { metadata } of await bed.list("jobs")) await bed.faults.deleteJob(metadata.name, "Background");
    await untilGone(bed, ["jobs", "pods"], everyMs);
    return null;
  }
}
