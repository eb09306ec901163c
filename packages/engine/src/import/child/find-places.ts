import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { entriesOf } from "../../volume/child/entries.ts";
import { inFolder, orNull } from "../../volume/child/in-folder.ts";
import { ImportFault } from "./fault.ts";

/** A file that a source may be about. */
export interface Place {
  readonly path: string;
  readonly mtimeMs: number;
}

const ANY = "*";
/** More folders than the earlier adapters' agents can have made; an agent can make any number. */
const MOST_ENTRIES = 10_000;

type OnFault = (error: unknown) => void;

/**
 * The files that a path with one `*` stands for: those in the folders to be tried first, then the newest. What is not there is left out; what
 * cannot be looked at is reported, and hides nothing else.
 */
export async function findPlaces(root: string, path: string, first: readonly string[] = [], onFault: OnFault): Promise<Place[]> {
  const names = path.split("/");
  const at = names.indexOf(ANY);
  if (at === -1) return seenAt(root, [path], onFault);
  const above = names.slice(0, at).join("/");
  const pathIn = (name: string): string => join(above, name, ...names.slice(at + 1));
  const inFirst = await seenAt(root, [...new Set(first)].map(pathIn), onFault);
  const others = (await foldersIn(root, above, onFault)).filter((name) => !first.includes(name));
  const inOthers = await seenAt(root, others.map(pathIn), onFault);
  return [...inFirst, ...inOthers.sort((a, b) => b.mtimeMs - a.mtimeMs)];
}

async function foldersIn(root: string, folder: string, onFault: OnFault): Promise<string[]> {
  const list = (path: string): string[] => {
    const names: string[] = [];
    let count = 0;
    for (const entry of entriesOf(path)) {
      if (++count > MOST_ENTRIES) throw new ImportFault("blocked", `${folder} has more than ${MOST_ENTRIES} entries`);
      if (entry.isDirectory()) names.push(entry.name);
    }
    return names.sort();
  };
  return (await orMissing(() => inFolder(root, folder, (at) => list(at())), onFault)) ?? [];
}

async function seenAt(root: string, paths: readonly string[], onFault: OnFault): Promise<Place[]> {
  const seen: Place[] = [];
  for (const path of paths) {
    const look = () => inFolder(root, dirname(path), (at) => orNull(() => lstatSync(at(basename(path))), ["ENOENT"]));
    const stats = await orMissing(look, onFault);
    if (stats !== null) seen.push({ path, mtimeMs: stats.mtimeMs });
  }
  return seen;
}

/** Null = it is not there, or cannot be looked at and may be there. */
async function orMissing<T>(look: () => Promise<T>, onFault: OnFault): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) onFault(error);
    return null;
  }
}
