import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type EndRecord, readEnd } from "@paperclip-k8s/engine";
import { parseOutputFile } from "@paperclip-k8s/paperclip/paths";

/** The files of one run on the shared volume: its output, the runner's records, the pod's lock file. */
export interface RunFileSet {
  /** Path of the output file below the folder of all. */
  readonly name: string;
  readonly run: string;
  readonly paths: readonly string[];
  readonly bytes: number;
  /** When any of them was last written. */
  readonly writtenAt: string;
  readonly end: EndRecord | null;
}

const ID = /^[a-zA-Z0-9-]+$/;

/** Oldest first. The host's own logs in the same folders are left out by their names. */
export async function findRunFiles(folder: string): Promise<RunFileSet[]> {
  const found: RunFileSet[] = [];
  for (const company of await foldersIn(folder))
    for (const agent of await foldersIn(join(folder, company))) found.push(...(await filesOf(folder, join(company, agent))));
  return found.sort((a, b) => a.writtenAt.localeCompare(b.writtenAt));
}

/** Not through links: pods write on this volume. */
export async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessMissing);
  return entries.filter((entry) => entry.isDirectory() && ID.test(entry.name)).map(({ name }) => name);
}

async function filesOf(root: string, place: string): Promise<RunFileSet[]> {
  const entries = await readdir(join(root, place), { withFileTypes: true }).catch(unlessMissing);
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const outputs = new Map(names.flatMap((name) => parseOutputFile(name) ?? []).map(({ output, runId }) => [output, runId]));
  const sets: RunFileSet[] = [];
  // One after the other: thousands of reads at once would take a slow volume for one that hangs.
  for (const [output, run] of outputs) {
    const set = await setOf(join(root, place), output, run, names);
    if (set !== null) sets.push({ ...set, name: join(place, set.name) });
  }
  return sets;
}

async function setOf(folder: string, output: string, run: string, names: readonly string[]): Promise<RunFileSet | null> {
  const paths = names.filter((name) => [output, `${output}.meta`, `${output}.claim`].includes(name)).map((name) => join(folder, name));
  const stats = (await Promise.all(paths.map((path) => lstat(path).catch(() => null)))).filter((each) => each !== null);
  if (stats.length === 0) return null;
  const writtenAt = new Date(Math.max(...stats.map(({ mtimeMs }) => mtimeMs))).toISOString();
  const end = await readEnd(join(folder, output), { run, nonce: null });
  return { name: output, run, paths, bytes: stats.reduce((sum, { size }) => sum + size, 0), writtenAt, end };
}

export async function removeRunFiles({ paths }: RunFileSet): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

function unlessMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}
