import { join } from "node:path";
import { type Seed, type SeedSpec, withVolume } from "@paperclip-k8s/engine";

/** What programs of every agent read from their home. */
const COMMON: readonly Seed[] = [".gitconfig", ".config/git", ".git-credentials", ".ssh", ".config/gh"].map((path) => ({ path }));

/** Logins and settings are small; installed plugins may be larger. */
const MAX_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 5000;

/**
 * HOME used to be the shared volume itself, so logins and settings there were seen by every run: those that are there are copied into each
 * run's private home. Null = there are none.
 */
export async function findSeeds(dataPath: string, own: readonly Seed[]): Promise<SeedSpec | null> {
  const pathOf = ({ path }: Seed): string => join(dataPath, path);
  const seeds = [...own, ...COMMON];
  const existing = await withVolume(dataPath, (volume) => volume.run("existing", { paths: seeds.map(pathOf) }, TIMEOUT_MS)).catch(
    // A volume that does not answer is reported by what cannot do without it.
    (): string[] => [],
  );
  const files = seeds.filter((seed) => existing.includes(pathOf(seed)));
  return files.length === 0 ? null : { from: dataPath, home: "$HOME", files, maxBytes: MAX_BYTES };
}
