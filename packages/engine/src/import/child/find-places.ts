import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { sortedEntries } from "../../volume/child/entries.ts";
import { inFolder, orNull } from "../../volume/child/in-folder.ts";

/** A file that a source may be about. */
export interface Place {
  readonly path: string;
  readonly mtimeMs: number;
}

const ANY = "*";
/** More folders than the earlier adapters' agents can have made; an agent can make any number. */
const MOST_FOLDERS = 10_000;

/** The files that a path with one `*` stands for: those in the folders to be tried first, then the newest. What is not there is left out. */
export async function findPlaces(root: string, path: string, first: readonly string[] = []): Promise<Place[]> {
  const names = path.split("/");
  const at = names.indexOf(ANY);
  if (at === -1) return seenAt(root, [path]);
  const above = names.slice(0, at).join("/");
  const folders = await foldersIn(root, above);
  const paths = folders.map((name) => join(above, name, ...names.slice(at + 1)));
  const rank = ({ path: found }: Place): number => {
    const index = first.indexOf(found.split("/")[at] ?? "");
    return index === -1 ? first.length : index;
  };
  return (await seenAt(root, paths)).sort((a, b) => rank(a) - rank(b) || b.mtimeMs - a.mtimeMs);
}

async function foldersIn(root: string, folder: string): Promise<string[]> {
  const list = (path: string): string[] => sortedEntries(path, MOST_FOLDERS).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  return (await orMissing(() => inFolder(root, folder, (at) => list(at())))) ?? [];
}

async function seenAt(root: string, paths: readonly string[]): Promise<Place[]> {
  const seen: Place[] = [];
  for (const path of paths) {
    const stats = await orMissing(() => inFolder(root, dirname(path), (at) => orNull(() => lstatSync(at(basename(path))), ["ENOENT"])));
    if (stats != null) seen.push({ path, mtimeMs: stats.mtimeMs });
  }
  return seen;
}

/** Null = it is not there. What cannot be looked at is an error: it may be there. */
async function orMissing<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}
