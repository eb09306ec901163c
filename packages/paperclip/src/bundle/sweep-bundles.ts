import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { UNFINISHED } from "./write-bundle.ts";

const HOUR = 3_600_000;
const EVERY_MS = HOUR;
/** How long a bundle is kept that no run can need any more: a session may come back to it. */
export const KEPT_MS = 14 * 24 * HOUR;
/** What was left half-written by a server that stopped. */
const PART_KEPT_MS = 24 * HOUR;
/** Of more bundles than this, those that were not used for longest go after a day. */
export const MOST_BUNDLES = 200;
const SURPLUS_KEPT_MS = 24 * HOUR;

const sweptAt = new Map<string, number>();

/** Removes bundles that nobody has used for two weeks, or for a day where there are many; looks at most once an hour, and at names and times only. */
export async function sweepBundles(folder: string, now: number = Date.now()): Promise<string[]> {
  if (now - (sweptAt.get(folder) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return [];
  sweptAt.set(folder, now);
  const removed: string[] = [];
  for (const [place, name] of (await newestFirst(folder)).entries()) {
    const kept = name.startsWith(UNFINISHED) ? PART_KEPT_MS : place < MOST_BUNDLES ? KEPT_MS : SURPLUS_KEPT_MS;
    if (await removeIfOld(folder, name, kept, now)) removed.push(name);
  }
  return removed;
}

async function newestFirst(folder: string): Promise<string[]> {
  const found: { readonly name: string; readonly usedAt: number }[] = [];
  for (const name of await readdir(folder)) {
    const stats = await stat(join(folder, name)).catch(() => null);
    if (stats !== null) found.push({ name, usedAt: stats.mtimeMs });
  }
  return found.sort((a, b) => b.usedAt - a.usedAt).map(({ name }) => name);
}

async function removeIfOld(folder: string, name: string, kept: number, now: number): Promise<boolean> {
  const path = join(folder, name);
  const isOld = async (at: string) => now - (await stat(at)).mtimeMs > kept;
  if (!(await isOld(path))) return false;
  const aside = join(folder, `${UNFINISHED}${randomUUID()}`);
  await rename(path, aside);
  // A run that chose it between the look and the move gets it back.
  if (!(await isOld(aside))) {
    await rename(aside, path);
    return false;
  }
  await rm(aside, { recursive: true, force: true });
  return true;
}
