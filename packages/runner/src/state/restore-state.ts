// Restores the newest whole generation into the home; what is damaged is passed over and named.
import { closeSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { StatePart, StatePoint, StateSpec } from "../records.ts";
import { type ArchiveSource, inFile } from "./archive-blocks.ts";
import { type Candidates, candidates, markUsed, openGeneration } from "./generations.ts";
import { fingerprintOf, listState, SQLITE_SUFFIXES } from "./list-state.ts";
import { DamagedArchive } from "./manifest.ts";
import { type Unpacked, type Unpacking, unpackArchive } from "./read-archive.ts";

export interface RestoreCommand extends Pick<StateSpec, "saved" | "home" | "parts" | "maxBytes" | "key" | "acceptUnsigned"> {
  readonly kind: "restore";
}

export interface RestoreAnswer {
  readonly kind: "restored";
  /** null: a fresh start. */
  readonly point: StatePoint | null;
  readonly fingerprint: string | null;
  /** Generations that were passed over. */
  readonly damaged: readonly string[];
  readonly notes: readonly string[];
}

/** The `saved` folder on the volume, or what was read of it before. */
export interface SavedFolder {
  readonly candidates: () => Candidates;
  /** null when it is not there, or no plain file. */
  readonly open: (generation: string) => { readonly source: ArchiveSource; readonly close: () => void } | null;
  readonly markUsed: () => void;
}

const onVolume = (saved: string): SavedFolder => ({
  candidates: () => candidates(saved),
  open: (generation) => {
    const fd = openGeneration(saved, generation);
    return fd === null ? null : { source: inFile(fd), close: () => closeSync(fd) };
  },
  markUsed: () => markUsed(saved),
});

/** Throws when a state may be there but cannot be read: that is not the same as none. */
export function restoreState(
  command: RestoreCommand,
  onRead: (bytes: number) => void = () => {},
  folder: SavedFolder = onVolume(command.saved),
): RestoreAnswer {
  const { home, parts, maxBytes, key, acceptUnsigned } = command;
  // What grew while it was saved may be a little larger than what is allowed.
  const unpacking = { home, isWanted: isPartOf(parts), maxBytes: 2 * maxBytes, trust: { key, acceptUnsigned }, onRead };
  const { pointer, names } = folder.candidates();
  const notes: string[] = [];
  const damaged: string[] = [];
  for (const generation of names) {
    removeRemains(home, parts);
    const found = unpack(folder, generation, unpacking);
    if ("damage" in found) {
      damaged.push(generation);
      notes.push(`saved state ${generation} cannot be used: ${found.damage}`);
      continue;
    }
    const { at, bytes, version } = found.manifest;
    if (generation !== (pointer?.current ?? names[0])) notes.push(`an earlier state was restored, saved ${at} (${generation})`);
    if (key !== undefined && !found.signed) notes.push(`the restored state is not signed: an earlier version saved it (${generation})`);
    folder.markUsed();
    const fingerprint = fingerprintOf(listState(home, parts).entries);
    return { kind: "restored", point: { generation, at, bytes, version }, fingerprint, damaged, notes };
  }
  if (notes.length > 0) notes.push("no saved state can be used: a fresh start");
  return { kind: "restored", point: null, fingerprint: null, damaged, notes };
}

function unpack(folder: SavedFolder, generation: string, unpacking: Unpacking): Unpacked | { readonly damage: string } {
  const archive = folder.open(generation);
  if (archive === null) return { damage: "it is not there, or no plain file" };
  try {
    return unpackArchive(archive.source, unpacking);
  } catch (error) {
    if (error instanceof DamagedArchive) return { damage: error.message };
    throw error;
  } finally {
    archive.close();
  }
}

/** A log that is not the restored database's own would be played into it. */
function removeRemains(home: string, parts: readonly StatePart[]): void {
  for (const part of parts)
    if (part.kind === "sqlite") for (const suffix of [...SQLITE_SUFFIXES, "-shm"]) rmSync(join(home, part.path + suffix), { force: true });
}

function isPartOf(parts: readonly StatePart[]): (path: string) => boolean {
  return (path) => {
    if (path.split("/").some((name) => name === "" || name === "." || name === "..")) return false;
    return parts.some((part) => {
      if (part.kind === "sqlite") return SQLITE_SUFFIXES.some((suffix) => path === part.path + suffix);
      return path === part.path || path.startsWith(`${part.path}/`);
    });
  };
}
