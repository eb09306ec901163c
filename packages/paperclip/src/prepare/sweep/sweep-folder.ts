import { randomUUID } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { inFolder, removeTree } from "@paperclip-k8s/engine";

const EVERY_MS = 3_600_000;

export interface SweepPlace {
  /** Mount point of the shared volume: no link below it is followed. */
  readonly root: string;
  readonly folder: string;
}

/** What of a folder may go, and when. */
export interface SweepRule {
  /** Begins the names of what is being removed. */
  readonly aside: string;
  /** Until when something is known to be of use; the path is good only for this look. */
  readonly usedUntil: (path: string) => Promise<number>;
  /** How long it is kept after that; `rank` counts from the one used last. */
  readonly keptMs: (name: string, rank: number) => number;
  /** Stays, however old: the run at hand is about to use it. */
  readonly except?: string;
}

/** Something that nobody needs any more. */
export interface Stale extends SweepPlace {
  readonly name: string;
  readonly path: string;
  readonly usedUntil: number;
  readonly keptMs: number;
}

export interface Swept {
  readonly removed: readonly string[];
  /** What could not be removed and why, each told once. */
  readonly troubles: readonly string[];
}

const sweptAt = new Map<string, number>();
const told = new Set<string>();

/** Removes what nobody needs any more; looks at most once an hour, at one thing after the other. */
export async function sweepFolder(place: SweepPlace, rule: SweepRule, now: number): Promise<Swept> {
  if (now - (sweptAt.get(place.folder) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return { removed: [], troubles: [] };
  sweptAt.set(place.folder, now);
  const removed: string[] = [];
  const troubles: string[] = [];
  const trouble = (path: string, { code, message }: NodeJS.ErrnoException): void => {
    // Nothing there yet, or another server was first.
    if (code === "ENOENT" || told.has(path)) return;
    told.add(path);
    troubles.push(`${path} could not be cleaned up: ${message}`);
  };
  const stale = await findStale(place, rule, now).catch((error) => {
    trouble(place.folder, error);
    return [];
  });
  for (const each of stale) {
    const gone = await removeStale(each, rule, now).catch((error) => trouble(each.path, error));
    if (gone === true) removed.push(each.name);
  }
  return { removed, troubles };
}

export function findStale(place: SweepPlace, rule: SweepRule, now: number): Promise<Stale[]> {
  return inFolder(place.root, place.folder, async (at) => {
    const found: { readonly name: string; readonly usedUntil: number }[] = [];
    for (const name of await readdir(at())) {
      const usedUntil = await rule.usedUntil(at(name)).catch(() => null);
      if (usedUntil !== null) found.push({ name, usedUntil });
    }
    return found
      .sort((a, b) => b.usedUntil - a.usedUntil)
      .map((entry, rank) => ({ ...place, ...entry, path: join(place.folder, entry.name), keptMs: rule.keptMs(entry.name, rank) }))
      .filter(({ name, usedUntil, keptMs }) => now - usedUntil > keptMs && name !== rule.except);
  });
}

/** False = a run has come to use it meanwhile. */
export function removeStale({ root, folder, name, keptMs }: Stale, rule: SweepRule, now: number): Promise<boolean> {
  return inFolder(root, folder, async (at) => {
    const isAside = name.startsWith(rule.aside);
    const aside = isAside ? name : `${rule.aside}${randomUUID()}`;
    if (!isAside) await rename(at(name), at(aside));
    // A run that came between the look and the move gets it back.
    if (now - (await rule.usedUntil(at(aside))) <= keptMs) {
      if (!isAside) await rename(at(aside), at(name));
      return false;
    }
    await removeTree(at(), aside);
    return true;
  });
}
