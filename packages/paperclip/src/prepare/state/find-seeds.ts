import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Seed, SeedSpec } from "@paperclip-k8s/engine";
import { BoundedFiles } from "../prompt/bounded-files.ts";

/** What programs of every agent read from their home. */
const COMMON: readonly Seed[] = [
  { path: ".gitconfig" },
  { path: ".config/git" },
  { path: ".git-credentials" },
  { path: ".ssh" },
  { path: ".config/gh" },
];

/** Logins and settings are small; installed plugins may be larger. */
const MAX_BYTES = 256 * 1024 * 1024;
const PATIENCE_MS = 5000;

/**
 * HOME used to be the shared volume itself, so logins and settings there were seen by every run: those that are there are copied into each
 * run's private home. Null = none is there, and no pod needs to look.
 */
export async function findSeeds(dataPath: string, own: readonly Seed[]): Promise<SeedSpec | null> {
  const files = new BoundedFiles({ shared: dataPath, timeoutMs: PATIENCE_MS });
  const found: Seed[] = [];
  try {
    await files.within(async () => {
      for (const seed of [...own, ...COMMON]) if (await isThere(join(dataPath, seed.path))) found.push(seed);
    });
  } catch {
    // A volume in trouble is told of by what cannot do without it.
  }
  return found.length === 0 ? null : { from: dataPath, home: "$HOME", files: found, maxBytes: MAX_BYTES };
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    // One that only the pod's user may read is the pod's to try.
    (error: NodeJS.ErrnoException) => error.code === "EACCES",
  );
