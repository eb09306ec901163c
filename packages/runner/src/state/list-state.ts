// The files and folders that make up the state; links and special files are never followed or taken.
import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { orNull } from "../files.ts";
import type { StatePart } from "../records.ts";
import type { TarMember } from "./tar-header.ts";

/** Its path is that below the home. */
export interface StateEntry extends TarMember {
  /** Where its bytes are: a database in use is read from a copy. */
  readonly from: string;
  readonly sqlite: boolean;
  /** Another one means that it was written to. */
  readonly mark: string;
}

export interface StateListing {
  readonly entries: readonly StateEntry[];
  readonly bytes: number;
  /** Links and special files. */
  readonly leftOut: number;
}

/** The log and the journal are part of a database; its `-shm` is rebuilt from the log. */
export const SQLITE_SUFFIXES = ["", "-wal", "-journal"] as const;

/** Two writes within one tick of the file system's clock can leave the same mark. */
const SETTLED_MS = 100;

export function listState(home: string, parts: readonly StatePart[]): StateListing {
  const found = new Map<string, StateEntry>();
  let leftOut = 0;
  const take = (path: string, sqlite: boolean): void => {
    const stats = lookAt(join(home, path));
    if (stats === null || found.has(path)) return;
    if (!stats.isFile() && !stats.isDirectory()) {
      leftOut++;
      return;
    }
    found.set(path, entryOf(home, path, stats, sqlite));
    if (stats.isDirectory() && !sqlite) for (const name of namesIn(join(home, path))) take(`${path}/${name}`, false);
  };
  // Databases first: as part of a folder their files are no plain files either.
  for (const part of [...parts].sort((a, b) => Number(a.kind === "files") - Number(b.kind === "files"))) {
    if (!isBelowPlainFolders(home, part.path)) leftOut++;
    else if (part.kind === "files") take(part.path, false);
    else for (const suffix of SQLITE_SUFFIXES) take(part.path + suffix, true);
  }
  const entries = [...found.values()].filter((entry) => !entry.path.endsWith("-shm") || !found.get(entry.path.slice(0, -4))?.sqlite);
  return { entries, bytes: entries.reduce((sum, entry) => sum + entry.size, 0), leftOut };
}

/** null when the state was written to a moment ago: a later write might not show. */
export function fingerprintOf(entries: readonly StateEntry[], now = Date.now()): string | null {
  if (entries.some((entry) => entry.mtimeMs > now - SETTLED_MS)) return null;
  const hash = createHash("sha256");
  for (const { path, mark } of entries) hash.update(`${path}\0${mark}\0`);
  return hash.digest("hex");
}

export const databaseMarks = (entries: readonly StateEntry[]): string =>
  entries.flatMap(({ sqlite, path, mark }) => (sqlite ? [`${path} ${mark}`] : [])).join("\n");

function entryOf(home: string, path: string, stats: BigIntStats, sqlite: boolean): StateEntry {
  const kind = stats.isDirectory() ? "folder" : "file";
  const size = kind === "file" ? Number(stats.size) : 0;
  const mark = kind === "file" ? `${stats.ino} ${size} ${stats.mtimeNs} ${stats.mode}` : `${stats.mode}`;
  return { path, from: join(home, path), kind, size, mode: Number(stats.mode) & 0o777, mtimeMs: Number(stats.mtimeMs), sqlite, mark };
}

function isBelowPlainFolders(home: string, path: string): boolean {
  const names = path.split("/");
  return names.slice(0, -1).every((_, index) => lookAt(join(home, ...names.slice(0, index + 1)))?.isDirectory() ?? true);
}

/** null when it is not there, which may have become so a moment ago. */
export const lookAt = (path: string): BigIntStats | null => orNull(() => lstatSync(path, { bigint: true }), ["ENOENT", "ENOTDIR"]);

export const namesIn = (folder: string): string[] => orNull(() => readdirSync(folder).sort(), ["ENOENT"]) ?? [];
