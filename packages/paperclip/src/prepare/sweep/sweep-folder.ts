import { join } from "node:path";
import { type SweepRule, type VolumeError, withVolume } from "@paperclip-k8s/engine";

const EVERY_MS = 3_600_000;
/** For each request. Generous: no run waits for a sweep. */
export const SWEEP_TIMEOUT_MS = 60_000;

export interface SweepPlace {
  /** Mount point of the shared volume: no link below it is followed. */
  readonly root: string;
  readonly folder: string;
}

export interface Swept {
  readonly removed: readonly string[];
  /** What could not be removed and why, each reported once. */
  readonly problems: readonly string[];
}

const sweptAt = new Map<string, number>();
const reported = new Set<string>();

/** Removes the entries that are no longer needed, one after the other, at most once an hour. */
export async function sweepFolder({ root, folder }: SweepPlace, rule: SweepRule, now: number): Promise<Swept> {
  if (now - (sweptAt.get(folder) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return { removed: [], problems: [] };
  sweptAt.set(folder, now);
  const removed: string[] = [];
  const problems: string[] = [];
  const report = (path: string, { code, message }: VolumeError): void => {
    // Nothing there yet, or another server was first.
    if (code === "volume_missing" || reported.has(path)) return;
    reported.add(path);
    problems.push(`${path} could not be cleaned up: ${message}`);
  };
  await withVolume(root, async (volume) => {
    const stale = await volume.run("findStale", { folder, rule, now }, SWEEP_TIMEOUT_MS);
    for (const entry of stale) {
      const gone = await volume
        .run("removeStale", { entry, rule, now }, SWEEP_TIMEOUT_MS)
        .catch((error: VolumeError) => report(join(folder, entry.name), error));
      if (gone === true) removed.push(entry.name);
    }
  }).catch((error: VolumeError) => report(folder, error));
  return { removed, problems };
}
