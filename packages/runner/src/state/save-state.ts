// Saves the state from the home to the volume as a new generation; until the last step the previous one stays in force.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { orNull } from "../files.ts";
import type { StatePoint, StateSpec } from "../records.ts";
import { addGeneration, pointAt, readPointer, tidy } from "./generations.ts";
import { databaseMarks, fingerprintOf, listState, type StateEntry, type StateListing } from "./list-state.ts";
import type { ArchiveManifest } from "./manifest.ts";
import { writeArchive } from "./write-archive.ts";

export interface SaveCommand extends Pick<StateSpec, "saved" | "home" | "parts" | "maxBytes" | "key"> {
  readonly kind: "save";
  readonly version: string | null;
  readonly run: string;
  /** Stands in the name of every file this run makes in the `saved` folder. */
  readonly tag: string;
  /** The CLI is running: databases are copied by SQLite itself. */
  readonly live: boolean;
  /** Of the files as last saved or restored; the same again means that there is nothing to save. */
  readonly fingerprint: string | null;
  /** The generation this run started from; another one in its place was saved by another run. */
  readonly from: string | null;
  /** Generations that could not be used: replacing them loses nothing. */
  readonly damaged: readonly string[];
}

export type SaveAnswer =
  | { readonly kind: "saved"; readonly point: StatePoint; readonly fingerprint: string | null; readonly notes: readonly string[] }
  | { readonly kind: "unchanged" }
  /** This runtime has no SQLite for a copy of a database in use. */
  | { readonly kind: "not-live" };

const COPIES = ".saving-";
/** How long a lock held by the CLI is waited for. */
const BUSY_MS = 5_000;

/** The files as they were when the save began. */
interface Found extends StateListing {
  readonly fingerprint: string | null;
}

export async function saveState(command: SaveCommand): Promise<SaveAnswer> {
  const { home, parts, live } = command;
  removeCopies(home);
  const listing = listState(home, parts);
  const found: Found = { ...listing, fingerprint: fingerprintOf(listing.entries) };
  if (!found.entries.some((entry) => entry.kind === "file")) return { kind: "unchanged" };
  if (found.fingerprint !== null && found.fingerprint === command.fingerprint) return { kind: "unchanged" };
  if (found.bytes > command.maxBytes) throw new Error(tooLarge(command, found.bytes));
  if (!live || !found.entries.some((entry) => entry.sqlite)) {
    const atRest = (): boolean => databaseMarks(listState(home, parts).entries) === databaseMarks(found.entries);
    const kept = keep(command, found, found.entries, atRest);
    if (kept) return kept;
  }
  const copier = databaseCopier();
  if (copier === null && live) return { kind: "not-live" };
  if (copier === null) throw new Error("a database was written to while it was copied");
  const folder = mkdtempSync(join(home, COPIES));
  try {
    const kept = keep(command, found, await copyDatabases(found.entries, folder, copier), () => true);
    if (!kept) throw new Error("nothing was saved");
    return kept;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing newer is saved until the state becomes smaller or is removed. */
function tooLarge({ maxBytes, saved }: SaveCommand, bytes: number): string {
  return `the state has ${bytes} bytes, ${maxBytes} are allowed. To begin anew without it, remove ${saved}`;
}

/** Of a save that was given up. */
function removeCopies(home: string): void {
  for (const name of existsSync(home) ? readdirSync(home) : [])
    if (name.startsWith(COPIES)) rmSync(join(home, name), { recursive: true, force: true });
}

/** null, and nothing new on the volume, when the files were not at rest. */
function keep(command: SaveCommand, found: Found, entries: readonly StateEntry[], atRest: () => boolean): SaveAnswer | null {
  const { saved, tag, run, version, from, damaged, key } = command;
  const at = new Date().toISOString();
  const before = readPointer(saved);
  const restless = new Error();
  let added: { name: string; written: ArchiveManifest };
  try {
    added = addGeneration(saved, tag, at, (fd) => {
      const manifest = writeArchive(fd, entries, { run, at, version }, key);
      if (!atRest()) throw restless;
      return manifest;
    });
  } catch (error) {
    if (error === restless) return null;
    throw error;
  }
  const standing = before?.current ?? null;
  // The one to fall back on must be one that can be used.
  const pointer = { current: added.name, previous: standing !== null && damaged.includes(standing) ? from : standing };
  pointAt(saved, tag, pointer);
  // The state is saved by now: what remains does no harm, and the next save removes it.
  orNull(() => tidy(saved, tag, pointer, before));
  const notes: string[] = [];
  if (standing !== null && ![from, ...damaged].includes(standing) && !standing.includes(`-${tag}-`))
    notes.push(`another run saved its state meanwhile (${standing}); this run's now stands in its place`);
  if (found.leftOut > 0) notes.push(`${found.leftOut} links or special files are not part of the saved state`);
  const point = { generation: added.name, at, bytes: added.written.bytes, version };
  return { kind: "saved", point, fingerprint: found.fingerprint, notes };
}

/** The log of a copied database is in the copy. */
async function copyDatabases(
  entries: readonly StateEntry[],
  folder: string,
  copy: (from: string, to: string) => Promise<void>,
): Promise<StateEntry[]> {
  const copied: StateEntry[] = [];
  for (const entry of entries) {
    if (!entry.sqlite) copied.push(entry);
    else if (!/-(wal|journal)$/.test(entry.path)) {
      const from = join(folder, `${copied.length}`);
      await copy(entry.from, from);
      copied.push({ ...entry, from, size: statSync(from).size });
    }
  }
  return copied;
}

/** Copies a SQLite database that another process has open, from one state of it; null where the runtime is too old to have SQLite. */
function databaseCopier(): ((from: string, to: string) => Promise<void>) | null {
  const sqlite = orNull(() => process.getBuiltinModule?.("node:sqlite"));
  if (!sqlite?.backup) return null;
  return async (from, to) => {
    const database = new sqlite.DatabaseSync(from, { readOnly: true, timeout: BUSY_MS });
    try {
      // In steps, a database that is written to would be begun anew at every step.
      await sqlite.backup(database, to, { rate: 2 ** 31 - 1 });
    } finally {
      database.close();
    }
  };
}
