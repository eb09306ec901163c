// Lists the files of one seed (a file or folder that is copied into the home): regular files only, and a limited number.
import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { orNull } from "../files.ts";

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
export function findFiles(top: string, asked: string): FoundFile[] | null {
  const real = orNull(() => realpathSync(asked), ["ENOENT", "ENOTDIR"]);
  if (real === null) return null;
  if (!isIn(real, top)) throw new Error(`a link that leads out of ${top}`);
  const stats = lstatSync(real);
  if (!stats.isDirectory()) return stats.isFile() ? [found("", real, stats)] : [];
  const files: FoundFile[] = [];
  walk(top, real, "", files, MOST_LEVELS);
  return files;
}

function walk(top: string, folder: string, path: string, files: FoundFile[], levels: number): void {
  if (levels === 0) throw new Error(`more than ${MOST_LEVELS} folders deep`);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) walk(top, join(folder, entry.name), below, files, levels - 1);
    else files.push(...fileOf(top, join(folder, entry.name), below, entry));
    if (files.length > MOST_FILES) throw new Error(`more than ${MOST_FILES} files`);
  }
}

/** Nothing for pipes, sockets and devices, nor for a link to a folder, to nowhere or out of `top`. */
function fileOf(top: string, file: string, path: string, entry: Dirent): FoundFile[] {
  if (!entry.isFile() && !entry.isSymbolicLink()) return [];
  const real = orNull(() => realpathSync(file), ["ENOENT", "ENOTDIR", "ELOOP"]);
  const stats = real === null || !isIn(real, top) ? null : statSync(real);
  return real !== null && stats?.isFile() === true ? [found(path, real, stats)] : [];
}

const found = (path: string, real: string, { size, mode }: Stats): FoundFile => ({ path, real, size, mode: mode & 0o777 });

const isIn = (path: string, top: string): boolean => path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
