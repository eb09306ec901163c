// Copies named files and folders into the run's private home, as far as they are there and can be read.
import { cpSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Seed, SeedSpec } from "../records.ts";

export interface SeedOrder extends SeedSpec {
  readonly act: "seed";
}

export interface SeedAnswer {
  readonly kind: "seeded";
  readonly taken: readonly string[];
  /** Why others were not, one line each. */
  readonly problems: readonly string[];
}

export function seedHome({ from, home, files, maxBytes }: SeedOrder): SeedAnswer {
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
  const source = resolved(join(from, path));
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

/** A login may be a link to where somebody keeps all of his. */
function resolved(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
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
