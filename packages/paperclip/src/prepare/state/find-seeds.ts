import { join } from "node:path/posix";
import { type ObjectVolume, type Seed, type SeedSpec, type SeenPath, type SharedMount, withVolume } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";
import { ConfigError } from "../../settings/config-error.ts";
import type { RunParts } from "../attempt.ts";
import { SEEDS_MOUNT } from "../environment/mounts.ts";
import { checkSeeds } from "../scope/parents.ts";

/** What programs of every agent read from their home. */
const COMMON: readonly Seed[] = [".gitconfig", ".config/git", ".git-credentials", ".ssh", ".config/gh"].map((path) => ({ path }));

/** Logins and settings are small; installed plugins may be larger. */
const MAX_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 5000;

/** The logins and settings that each private home begins with, and what the pod needs to read them. */
export interface Seeds {
  /** Null = there are none. */
  readonly spec: SeedSpec | null;
  readonly mounts: readonly SharedMount[];
  readonly secrets: readonly ObjectVolume[];
  readonly warnings: readonly string[];
}

export const NO_SEEDS: Seeds = { spec: null, mounts: [], secrets: [], warnings: [] };

type SeedParts = Pick<RunParts, "cli" | "config" | "policy"> & { readonly inherited: Pick<RunParts["inherited"], "claim"> };

/** Only from where the policy says: in a place that agents can write, one of them could put code that runs in the pods of all others. */
export async function findSeeds(parts: SeedParts): Promise<Seeds> {
  const { cli, policy } = parts;
  // Beside an account of the host's the CLI has no other login, and no settings that could send its key elsewhere.
  const own = parts.config.account ? [] : (cli.state?.seeds ?? []);
  const files = [...own, ...COMMON];
  if (policy.seeds === null) return { ...NO_SEEDS, warnings: await unusedSeeds(parts, files) };
  if ("secret" in policy.seeds) return secretSeeds(policy.seeds.secret, files);
  const { folder } = policy.seeds;
  checkFolder(parts, folder);
  return folderSeeds(parts, folder, files, await look(parts, folder, files));
}

function secretSeeds(secret: string, files: readonly Seed[]): Seeds {
  const spec = { from: SEEDS_MOUNT, home: "$HOME", files, secret, maxBytes: MAX_BYTES };
  // Readable for the pod's user, whichever that is; the copies in the home are private.
  const volume = { name: secret, mountPath: SEEDS_MOUNT, subPath: null, items: null, defaultMode: 0o444 };
  return { ...NO_SEEDS, spec, secrets: [volume] };
}

function checkFolder({ policy: { volume }, inherited: { claim } }: SeedParts, folder: string): void {
  if (volume.mount === "whole")
    throw new ConfigError(
      "seeds.folder",
      `agents can write to ${folder}, because the policy lets them mount the whole volume: use seeds.secret`,
    );
  if (!isBelow(folder, claim.mountPath))
    throw new ConfigError("seeds.folder", `${folder} is not on the volume at ${claim.mountPath}: name a folder of it, or use seeds.secret`);
}

/** Each file or folder is mounted by itself, read-only: what else is in the operator's folder is not for agents. */
function folderSeeds({ config, policy }: SeedParts, folder: string, files: readonly Seed[], seen: readonly SeenPath[]): Seeds {
  const there = seen.filter(({ kind }) => kind === "file" || kind === "folder").map(({ path }) => path);
  checkSeeds(there, policy.volume, config);
  const taken = files.filter(({ path }) => there.includes(join(folder, path)));
  return {
    ...NO_SEEDS,
    spec: taken.length === 0 ? null : { from: folder, home: "$HOME", files: taken, maxBytes: MAX_BYTES },
    mounts: there.map((path) => ({ path, readOnly: true })),
    warnings: seen.flatMap(({ path, link }) => (link === null ? [] : [`${path} is not copied into the agent's home: ${link} is a link`])),
  };
}

const warned = new Set<string>();

/** A warning, once per process: earlier versions copied these files from the volume, where every agent could write. */
async function unusedSeeds(parts: SeedParts, files: readonly Seed[]): Promise<string[]> {
  const { dataPath } = parts.config;
  const key = `${parts.cli.type} ${dataPath}`;
  if (warned.has(key)) return [];
  const found = (await look(parts, dataPath, files)).filter(({ kind }) => kind !== "missing").map(({ path }) => path);
  if (found.length === 0) return [];
  warned.add(key);
  const line = parts.policy.volume.mount === "whole" ? "seeds: { secret: <name> }" : `seeds: { folder: ${dataPath} }`;
  const why = parts.cli.inPlace ? "a pod has a home of its own" : "agents could write there until now";
  return [
    `not copied into the agent's home, because ${why}: ${found.join(", ")}. ` +
      `To use them, look at what is in them, then write into the policy: ${line}`,
  ];
}

async function look({ inherited: { claim } }: SeedParts, folder: string, files: readonly Seed[]): Promise<SeenPath[]> {
  const paths = files.map(({ path }) => join(folder, path));
  if (!isBelow(folder, claim.mountPath)) return [];
  // If the volume does not answer, the run's later steps report it.
  return withVolume(claim.mountPath, (volume) => volume.run("lookAt", { paths }, TIMEOUT_MS)).catch(() => []);
}
