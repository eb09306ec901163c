// Lists the files of one seed (a file or folder that is copied into the home): regular files only, and a limited number.
import type { Dirent, Stats } from "node:fs";
import { join } from "node:path";
import { entriesOf, realPath, statPath } from "../file-calls.ts";
import { codeOf } from "../files.ts";

const MOST_FILES = 10_000;
const MOST_LEVELS = 20;

export interface FoundFile {
  /** Path below the file or folder that was asked for; "" = that itself. */
  readonly path: string;
  /** Its path with all links resolved. */
  readonly real: string;
  readonly size: number;
  readonly mode: number;
}

/** Null = it is not there. A link counts as what it leads to, as long as that is in `top` too. */
export async function findFiles(top: string, asked: string): Promise<FoundFile[] | null> {
  const real = await resolved(asked, ["ENOENT", "ENOTDIR"]);
  if (real === null) return null;
  if (!isIn(real, top)) throw new Error(`a link that leads out of ${top}`);
  const stats = await statPath(real);
  if (!stats.isDirectory()) return stats.isFile() ? [found("", real, stats)] : [];
  const files: FoundFile[] = [];
  await walk(top, real, "", files, MOST_LEVELS);
  return files;
}

async function walk(top: string, folder: string, path: string, files: FoundFile[], levels: number): Promise<void> {
  if (levels === 0) throw new Error(`more than ${MOST_LEVELS} folders deep`);
  for (const entry of await entriesOf(folder)) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) await walk(top, join(folder, entry.name), below, files, levels - 1);
    else files.push(...(await fileOf(top, join(folder, entry.name), below, entry)));
    if (files.length > MOST_FILES) throw new Error(`more than ${MOST_FILES} files`);
  }
}

/** Nothing for pipes, sockets and devices, nor for a link to a folder, to nowhere or out of `top`. */
async function fileOf(top: string, file: string, path: string, entry: Dirent): Promise<FoundFile[]> {
  if (!entry.isFile() && !entry.isSymbolicLink()) return [];
  const real = await resolved(file, ["ENOENT", "ENOTDIR", "ELOOP"]);
  const stats = real === null || !isIn(real, top) ? null : await statPath(real);
  return real !== null && stats?.isFile() === true ? [found(path, real, stats)] : [];
}

/** null when it fails with one of these codes. */
async function resolved(path: string, codes: readonly string[]): Promise<string | null> {
  try {
    return await realPath(path);
  } catch (error) {
    if (!codes.includes(codeOf(error))) throw error;
    return null;
  }
}

const found = (path: string, real: string, { size, mode }: Stats): FoundFile => ({ path, real, size, mode: mode & 0o777 });

const isIn = (path: string, top: string): boolean => path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
