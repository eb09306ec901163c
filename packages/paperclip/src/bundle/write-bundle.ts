import { randomUUID } from "node:crypto";
import { chmod, mkdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BoundedFiles } from "../prompting/bounded-files.ts";
import type { BundleFile } from "./skill-files.ts";

const PATIENCE_MS = 30_000;
/** Begins the names of folders that are being written or removed. */
export const UNFINISHED = ".part-";

export interface BundlePlace {
  /** Mount point of the shared volume. */
  readonly root: string;
  /** Holds the bundles of one company. */
  readonly folder: string;
  readonly key: string;
}

/** The volume did not take a bundle; it may the next time. */
export class BundleError extends Error {
  override readonly name = "BundleError";
}

/** Puts the bundle in its place in one step, so that another server that writes the same one meanwhile does no harm; returns its folder. */
export async function writeBundle(place: BundlePlace, content: readonly BundleFile[], usedUntil: number): Promise<string> {
  const target = join(place.folder, place.key);
  try {
    await new BoundedFiles({ timeoutMs: PATIENCE_MS }).within(async () => {
      // A root that is not there is a volume that is not mounted: nothing must be made in its place.
      await stat(place.root);
      if (!(await isThere(target))) await build(place.folder, target, content);
      await markUsed(target, usedUntil);
    });
  } catch (error) {
    throw new BundleError(`skills and instructions cannot be written to ${place.folder}: ${(error as Error).message}`, { cause: error });
  }
  return target;
}

async function build(folder: string, target: string, content: readonly BundleFile[]): Promise<void> {
  const part = join(folder, `${UNFINISHED}${randomUUID()}`);
  try {
    for (const { path, bytes, executable } of content) {
      const file = join(part, path);
      await makeFolder(dirname(file));
      await writeFile(file, bytes, { flag: "wx" });
      // Any user of a pod may read them, nobody may change them.
      await chmod(file, executable ? 0o555 : 0o444);
    }
    await rename(part, target);
  } catch (error) {
    // Another server was first with the same content.
    if (!(await isThere(target))) throw error;
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** Whatever the server's own umask is, the pod's user may come in. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let each = folder; each.length >= first.length; each = dirname(each)) await chmod(each, 0o755);
}

/** Its time of change says until when a run may need it; never taken back. */
async function markUsed(target: string, until: number): Promise<void> {
  const { mtimeMs } = await stat(target);
  if (mtimeMs < until) await utimes(target, new Date(), new Date(until));
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}
