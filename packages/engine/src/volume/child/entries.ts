import { type Dirent, opendirSync, type Stats } from "node:fs";
import type { FolderEntry } from "../protocol.ts";

/** A pod can put any number of files into a folder: more than this are not listed. */
const MOST_ENTRIES = 100_000;

/** The entries of a folder, one by one, so that a folder of millions takes no memory. */
export function* entriesOf(folder: string): Generator<Dirent> {
  const open = opendirSync(folder);
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) yield entry;
  } finally {
    open.closeSync();
  }
}

/** Sorted by name; rejects a folder of more than these. */
export function sortedEntries(folder: string, most = MOST_ENTRIES): Dirent[] {
  const found: Dirent[] = [];
  for (const entry of entriesOf(folder)) if (found.push(entry) > most) throw new Error(`it has more than ${most} entries`);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function kindOf(entry: Pick<Dirent | Stats, "isFile" | "isDirectory" | "isSymbolicLink">): FolderEntry["kind"] {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : "other";
}
