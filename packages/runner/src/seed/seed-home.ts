// Copies named files and folders into the run's private home, as far as they are there and can be read.
import { cpSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { answerWithin, startTask } from "../file-task.ts";
import { orNull } from "../files.ts";
import type { Seed, SeedSpec } from "../records.ts";

export interface SeedCommand extends SeedSpec {
  readonly kind: "seed";
}

export interface SeedAnswer {
  readonly kind: "seeded";
  readonly taken: readonly string[];
  /** Why others were not, one line each. */
  readonly problems: readonly string[];
}

/** A slower volume delays the run no further; its problems are logged elsewhere. */
const TIMEOUT_MS = 20_000;

/** Seeds the home in a process of its own; what was taken and what was not, as notes. Nothing here keeps the CLI from starting. */
export async function takeSeeds(runnerFile: string, seed: SeedSpec, isStopped: () => boolean): Promise<string[]> {
  const deadline = performance.now() + TIMEOUT_MS;
  const task = startTask<SeedAnswer>(runnerFile, { kind: "seed", ...seed } satisfies SeedCommand);
  const answer = await answerWithin(task, () => (isStopped() ? 0 : deadline - performance.now()));
  if (answer === null) return [`nothing was taken over from ${seed.from}: no answer within ${TIMEOUT_MS / 1000} s`];
  if (answer.kind === "failed") return [`nothing was taken over from ${seed.from}: ${answer.error}`];
  return [
    ...(answer.taken.length === 0 ? [] : [`taken over from ${seed.from}: ${answer.taken.join(", ")}`]),
    ...(answer.problems.length === 0 ? [] : [`not taken over from ${seed.from}: ${answer.problems.join(", ")}`]),
  ];
}

export function seedHome({ from, home, files, maxBytes }: SeedCommand): SeedAnswer {
  const taken: string[] = [];
  const problems: string[] = [];
  let left = maxBytes;
  for (const seed of files) {
    try {
      const bytes = takeOne(seed, from, home, left);
      if (bytes === null) continue;
      left -= bytes;
      taken.push(seed.path);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      problems.push(`${seed.path} (${code ?? message})`);
    }
  }
  return { kind: "seeded", taken, problems };
}

/** Bytes copied; null when it is not there. Nothing of it stays when a part of it cannot be had. */
function takeOne({ path, to = path }: Seed, from: string, home: string, left: number): number | null {
  // A login may be a link into another folder.
  const source = orNull(() => realpathSync(join(from, path)), ["ENOENT", "ENOTDIR"]);
  if (source === null) return null;
  const bytes = sizeOf(source);
  if (bytes > left) throw new Error(`${bytes} bytes, too large`);
  const target = join(home, to);
  mkdirSync(dirname(target), { recursive: true });
  try {
    cpSync(source, target, { recursive: true, filter: isPlain });
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  }
  return bytes;
}

function sizeOf(path: string): number {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Sockets and pipes are not for copying, nor is a link that leads nowhere. */
function isPlain(path: string): boolean {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return statSync(path, { throwIfNoEntry: false }) !== undefined;
  return stats.isFile() || stats.isDirectory();
}
