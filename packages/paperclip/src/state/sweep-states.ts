import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const EVERY_MS = HOUR;
/** However many tasks there are: what a run may have restored and not saved again yet. */
const IN_USE_MS = 2 * DAY;
/** Begins the names of folders that are being removed. */
const REMOVING = ".removing-";

const sweptAt = new Map<string, number>();

export interface Retention {
  readonly days: number;
  /** Of more tasks than this, those that were not used for longest go. */
  readonly tasks: number;
  /** How long a run may take. */
  readonly runSec: number;
}

interface Saved {
  readonly name: string;
  readonly usedAt: number;
}

/** Removes saved sessions of one agent that nobody needs any more; looks at most once an hour, one file after the other. */
export async function sweepStates(folder: string, keep: Retention, now: number = Date.now()): Promise<string[]> {
  if (now - (sweptAt.get(folder) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return [];
  sweptAt.set(folder, now);
  const found: Saved[] = [];
  for (const name of await readdir(folder)) {
    const usedAt = await usedAtOf(join(folder, name));
    if (usedAt !== null) found.push({ name, usedAt });
  }
  const removed: string[] = [];
  for (const { name } of chosen(found, keep, now)) if (await remove(folder, name, keep, now)) removed.push(name);
  return removed;
}

function chosen(found: readonly Saved[], keep: Retention, now: number): Saved[] {
  const newestFirst = [...found].sort((a, b) => b.usedAt - a.usedAt);
  return newestFirst.filter(({ name, usedAt }, place) => {
    const limit = name.startsWith(REMOVING) ? DAY : place >= keep.tasks ? youngest(keep) : keptFor(keep);
    return now - usedAt > limit;
  });
}

const youngest = ({ runSec }: Retention): number => Math.max(IN_USE_MS, runSec * 1000 + HOUR);
const keptFor = (keep: Retention): number => Math.max(keep.days * DAY, youngest(keep));

/** The runner touches its pointer when it restores, and replaces it when it saves. */
async function usedAtOf(folder: string): Promise<number | null> {
  for (const path of [join(folder, "current"), folder]) {
    const stats = await stat(path).catch(() => null);
    if (stats !== null) return stats.mtimeMs;
  }
  return null;
}

async function remove(folder: string, name: string, keep: Retention, now: number): Promise<boolean> {
  const path = join(folder, name);
  const aside = join(folder, `${REMOVING}${randomUUID()}`);
  await rename(path, aside);
  // A run that came between the look and the move gets it back.
  const usedAt = await usedAtOf(aside);
  if (usedAt !== null && now - usedAt < youngest(keep) && !name.startsWith(REMOVING)) {
    await rename(aside, path);
    return false;
  }
  await rm(aside, { recursive: true, force: true });
  return true;
}
