import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { mkdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { CACHE } from "../server/release.ts";

// Packing takes 11 to 13 s, so what was packed stays until something that goes into it has changed.

const PACKED = join(CACHE, "packed");
/** A packing that no process can be using any more. */
const UNUSED_MS = 6 * 3_600_000;
const KEPT = 3;

/** The folder of that content, made by `make` unless an earlier call has; it is complete, or not there. */
export async function cached(key: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(PACKED, key);
  if (!existsSync(folder)) {
    const partial = `${folder}.partial-${process.pid}`;
    await mkdir(partial, { recursive: true });
    try {
      await make(partial);
      await rename(partial, folder).catch((error: unknown) => {
        if (!existsSync(folder)) throw error; // else another process was faster
      });
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
    await removeOld();
  }
  const now = new Date();
  utimesSync(folder, now, now); // the time of its last use
  return realpath(folder);
}

async function removeOld(): Promise<void> {
  const newestFirst = readdirSync(PACKED)
    .map((name) => ({ folder: join(PACKED, name), used: statSync(join(PACKED, name)).mtimeMs }))
    .sort((a, b) => b.used - a.used);
  for (const { folder, used } of newestFirst.slice(KEPT))
    if (Date.now() - used > UNUSED_MS) await rm(folder, { recursive: true, force: true });
}
