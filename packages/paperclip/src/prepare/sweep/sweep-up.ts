// Removes what earlier runs left on the shared volume: old saved sessions of the agent, old bundles of its company.
import { basename, dirname, join } from "node:path";
import { type StaleEntry, type SweepRule, type VolumeError, withVolume } from "@paperclip-k8s/engine";
import { bundlesFolder, type InstancePlace, imageNotes, UNFINISHED_BUNDLE } from "../../host/paths.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import type { RunInputs } from "../attempt.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How long a bundle is kept that no run can need any more: a session may come back to it. */
export const BUNDLE_KEPT_MS = 14 * DAY;
export const MOST_BUNDLES = 200;
/** However many tasks there are: a run may have restored a session and not saved it again yet. */
const SESSION_IN_USE_MS = 2 * DAY;
/** For each request. Long, because removing a large tree takes its time and no run waits for it; a volume that hangs is noticed earlier. */
const TIMEOUT_MS = 10 * 60_000;

interface SweepPlace {
  /** Mount point of the shared volume: no link below it is followed. */
  readonly root: string;
  readonly folder: string;
}

interface Swept {
  readonly removed: readonly string[];
  /** What could not be removed and why, each reported once. */
  readonly problems: readonly string[];
}

/** No run waits for it. */
export async function sweepUp({ ctx, config, state, bundle, policy }: RunInputs, report: (problem: string) => unknown): Promise<void> {
  const root = config.dataPath;
  const states = () => (state.mode === "portable" ? sweepStates({ root, own: state.spec.saved }, config) : null);
  const bundles = () => (bundle?.folder == null ? null : sweepBundles({ root, folder: bundlesFolder(ctx, config) }));
  const notes = () => (policy.tools.image === null ? null : sweepNotes(config));
  for (const sweep of [states, bundles, notes]) for (const problem of (await sweep())?.problems ?? []) report(problem);
}

type Retention = Pick<AgentConfig, "stateRetentionDays" | "stateMaxTasks" | "timeoutSec" | "maxRunSec">;

/** `own`: the saved session of the task at hand, among those of the agent's other tasks; it stays. */
export function sweepStates(
  { root, own }: { readonly root: string; readonly own: string },
  keep: Retention,
  now: number = Date.now(),
): Promise<Swept> {
  const inUseMs = Math.max(SESSION_IN_USE_MS, (keep.timeoutSec || keep.maxRunSec) * 1000 + HOUR);
  const rule: SweepRule = {
    unfinished: ".removing-",
    unfinishedKeptMs: DAY,
    // The runner touches its pointer when it restores, and replaces it when it saves.
    marker: "current",
    keptMs: Math.max(keep.stateRetentionDays * DAY, inUseMs),
    most: keep.stateMaxTasks,
    surplusKeptMs: inUseMs,
    except: basename(own),
  };
  return sweepFolder({ root, folder: dirname(own) }, rule, now);
}

const bundleRule: SweepRule = {
  unfinished: UNFINISHED_BUNDLE,
  unfinishedKeptMs: DAY,
  marker: null,
  keptMs: BUNDLE_KEPT_MS,
  most: MOST_BUNDLES,
  surplusKeptMs: DAY,
  except: null,
};

export const sweepBundles = (place: SweepPlace, now: number = Date.now()): Promise<Swept> => sweepFolder(place, bundleRule, now);

const MOST_NOTES = 1000;

/** An image of which nothing is known any more is tried as it is. */
export function sweepNotes(place: InstancePlace, now: number = Date.now()): Promise<Swept> {
  const rule: SweepRule = { ...bundleRule, keptMs: 90 * DAY, most: MOST_NOTES };
  return sweepFolder({ root: place.dataPath, folder: imageNotes(place) }, rule, now);
}

export interface StaleBundle extends StaleEntry {
  readonly root: string;
  readonly path: string;
}

export async function staleBundles({ root, folder }: SweepPlace, now: number): Promise<StaleBundle[]> {
  const stale = await withVolume(root, (volume) => volume.run("findStale", { folder, rule: bundleRule, now }, TIMEOUT_MS));
  return stale.map((entry) => ({ ...entry, root, path: join(folder, entry.name) }));
}

/** False = a run has chosen it meanwhile. */
export function removeBundle({ root, folder, name, usedUntil, keptMs }: StaleBundle, now: number): Promise<boolean> {
  const entry = { folder, name, usedUntil, keptMs };
  return withVolume(root, (volume) => volume.run("removeStale", { entry, rule: bundleRule, now }, TIMEOUT_MS));
}

const sweptAt = new Map<string, number>();
const reported = new Set<string>();

/** Removes the entries that are no longer needed, one after the other, at most once an hour. */
async function sweepFolder({ root, folder }: SweepPlace, rule: SweepRule, now: number): Promise<Swept> {
  if (now - (sweptAt.get(folder) ?? Number.NEGATIVE_INFINITY) < HOUR) return { removed: [], problems: [] };
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
    const stale = await volume.run("findStale", { folder, rule, now }, TIMEOUT_MS);
    for (const entry of stale) {
      const gone = await volume
        .run("removeStale", { entry, rule, now }, TIMEOUT_MS)
        .catch((error: VolumeError) => report(join(folder, entry.name), error));
      if (gone === true) removed.push(entry.name);
    }
  }).catch((error: VolumeError) => report(folder, error));
  return { removed, problems };
}
