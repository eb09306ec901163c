import { lstat } from "node:fs/promises";
import { findStale, removeStale, type Stale, type SweepPlace, type SweepRule, type Swept, sweepFolder } from "../sweep/sweep-folder.ts";
import { UNFINISHED } from "./write-bundle.ts";

const DAY = 24 * 3_600_000;
/** How long a bundle is kept that no run can need any more: a session may come back to it. */
export const KEPT_MS = 14 * DAY;
/** What was left half-written by a server that stopped. */
const PART_KEPT_MS = DAY;
/** Of more bundles than this, those that were not used for longest go after a day. */
export const MOST_BUNDLES = 200;
const SURPLUS_KEPT_MS = DAY;

const rule: SweepRule = {
  aside: UNFINISHED,
  usedUntil: async (path) => (await lstat(path)).mtimeMs,
  keptMs: (name, rank) => (name.startsWith(UNFINISHED) ? PART_KEPT_MS : rank < MOST_BUNDLES ? KEPT_MS : SURPLUS_KEPT_MS),
};

/** Removes bundles that nobody has used for two weeks, or for a day where there are many. */
export const sweepBundles = (place: SweepPlace, now: number = Date.now()): Promise<Swept> => sweepFolder(place, rule, now);

export type StaleBundle = Stale;

export const staleBundles = (place: SweepPlace, now: number): Promise<StaleBundle[]> => findStale(place, rule, now);

/** False = a run has chosen it meanwhile. */
export const removeBundle = (bundle: StaleBundle, now: number): Promise<boolean> => removeStale(bundle, rule, now);
