import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type EndRecord, readEnd, runFiles, withVolume } from "@paperclip-k8s/engine";
import { costMark, type OutputFile, parseOutputFile } from "@paperclip-k8s/paperclip/paths";

/** The files of one run on the shared volume: its output, the runner's records, the pod's lock file. */
export interface RunFileSet {
  /** Path of the output file below the folder of all. */
  readonly name: string;
  readonly run: string;
  /** The folder of all runs' files. */
  readonly root: string;
  /** What to remove: the run's own folder, or its files where an earlier version wrote them. */
  readonly paths: readonly string[];
  readonly bytes: number;
  /** When any of them was last written. */
  readonly writtenAt: string;
  /** Null = none is proved to be the runner's. */
  readonly end: EndRecord | null;
}

const LAST_MS = 8.64e15;

/** A pod can set any time on its files, also one that `Date` cannot show. */
export const timeOf = (ms: number): string => new Date(Math.max(-LAST_MS, Math.min(LAST_MS, ms))).toISOString();

const ID = /^[a-zA-Z0-9-]+$/;

/** Oldest first. The host's own logs in the same folders are left out by their names. */
export async function findRunFiles(folder: string, secret: Uint8Array | null): Promise<RunFileSet[]> {
  const found: RunFileSet[] = [];
  for (const company of await foldersIn(folder))
    for (const agent of await foldersIn(join(folder, company))) found.push(...(await filesOf(folder, join(company, agent), secret)));
  return found.sort((a, b) => a.writtenAt.localeCompare(b.writtenAt));
}

/** Not through links: pods write on this volume. */
export async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessMissing);
  return entries.filter((entry) => entry.isDirectory() && ID.test(entry.name)).map(({ name }) => name);
}

async function filesOf(root: string, place: string, secret: Uint8Array | null): Promise<RunFileSet[]> {
  const entries = await readdir(join(root, place), { withFileTypes: true }).catch(unlessMissing);
  const found = entries.flatMap((entry) => {
    const parsed = parseOutputFile(entry.name);
    const isOurs = parsed !== null && (parsed.folder === null ? entry.isFile() : entry.isDirectory());
    return isOurs ? [[parsed.output, parsed] as const] : [];
  });
  const sets: RunFileSet[] = [];
  // One after the other: thousands of reads at once would take a slow volume for one that hangs.
  for (const file of new Map(found).values()) {
    const set = await setOf(root, place, file);
    if (set === null) continue;
    const found = await readEnd(join(root, set.name), { run: set.run, nonce: null, secret });
    sets.push({ ...set, end: found?.proved ? found.record : null });
  }
  return sets;
}

async function setOf(
  root: string,
  place: string,
  { output, runId: run, attempt, folder }: OutputFile,
): Promise<Omit<RunFileSet, "end"> | null> {
  const name = join(place, output);
  const files = await filesThere(Object.values(runFiles(join(root, name))));
  const found = folder === null ? files : [...files, ...(await filesThere([join(root, place, folder)]))];
  if (found.length === 0) return null;
  const writtenAt = timeOf(Math.max(...found.map(({ stats }) => stats.mtimeMs)));
  const own = folder === null ? files.map(({ path }) => path) : [join(root, place, folder)];
  // The mark stands for all attempts of the run, and goes with the first.
  const marks = attempt === 1 && ID.test(run) ? await filesThere([join(root, place, costMark(run))]) : [];
  const paths = [...own, ...marks.map(({ path }) => path)];
  return { name, run, root, paths, bytes: files.reduce((sum, { stats }) => sum + stats.size, 0), writtenAt };
}

async function filesThere(paths: readonly string[]) {
  const found = await Promise.all(paths.map(async (path) => ({ path, stats: await lstat(path).catch(() => null) })));
  return found.flatMap(({ path, stats }) => (stats === null || stats.isSymbolicLink() ? [] : [{ path, stats }]));
}

/** The volume's child process removes them without following links, with whatever else a pod has put into the folder. */
export async function removeRunFiles({ root, paths }: RunFileSet): Promise<void> {
  await withVolume(root, (volume) => volume.remove(paths));
}

function unlessMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}
