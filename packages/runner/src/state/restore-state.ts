// Restores the newest whole generation into the home; what is damaged is passed over and named.
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { orNull } from "../files.ts";
import type { StatePart, StatePoint, StateSpec } from "../records.ts";
import { candidates, markUsed } from "./generations.ts";
import { fingerprintOf, listState, SQLITE_SUFFIXES } from "./list-state.ts";
import { DamagedArchive, type Unpacking, unpackArchive } from "./read-archive.ts";
import type { ArchiveManifest } from "./write-archive.ts";

export interface RestoreCommand extends Pick<StateSpec, "saved" | "home" | "parts"> {
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

/** Throws when a state may be there but cannot be read: that is not the same as none. */
export function restoreState(command: RestoreCommand, onRead: (bytes: number) => void = () => {}): RestoreAnswer {
  const { saved, home, parts } = command;
  const { pointer, names } = candidates(saved);
  const notes: string[] = [];
  const damaged: string[] = [];
  for (const generation of names) {
    removeRemains(home, parts);
    const found = unpack(join(saved, generation), { home, isWanted: (path) => isPartOf(parts, path), onRead });
    if ("damage" in found) {
      damaged.push(generation);
      notes.push(`saved state ${generation} cannot be used: ${found.damage}`);
      continue;
    }
    if (generation !== (pointer?.current ?? names[0])) notes.push(`an earlier state was restored, saved ${found.at} (${generation})`);
    const { at, bytes, version } = found;
    markUsed(saved);
    const fingerprint = fingerprintOf(listState(home, parts).entries);
    return { kind: "restored", point: { generation, at, bytes, version }, fingerprint, damaged, notes };
  }
  if (notes.length > 0) notes.push("no saved state can be used: a fresh start");
  return { kind: "restored", point: null, fingerprint: null, damaged, notes };
}

function unpack(file: string, unpacking: Unpacking): ArchiveManifest | { readonly damage: string } {
  const fd = orNull(() => openSync(file, "r"), ["ENOENT"]);
  if (fd === null) return { damage: "it is not there" };
  try {
    return unpackArchive(fd, unpacking);
  } catch (error) {
    if (error instanceof DamagedArchive) return { damage: error.message };
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** A log that is not the restored database's own would be played into it. */
function removeRemains(home: string, parts: readonly StatePart[]): void {
  for (const part of parts)
    if (part.kind === "sqlite") for (const suffix of [...SQLITE_SUFFIXES, "-shm"]) rmSync(join(home, part.path + suffix), { force: true });
}

function isPartOf(parts: readonly StatePart[], path: string): boolean {
  if (path.split("/").some((name) => name === "" || name === "." || name === "..")) return false;
  return parts.some((part) => {
    if (part.kind === "sqlite") return SQLITE_SUFFIXES.some((suffix) => path === part.path + suffix);
    return path === part.path || path.startsWith(`${part.path}/`);
  });
}
