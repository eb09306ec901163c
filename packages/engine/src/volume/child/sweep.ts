import { randomUUID } from "node:crypto";
import { lstatSync, renameSync } from "node:fs";
import type { Of, StaleEntry, SweepRule } from "../protocol.ts";
import { sortedEntries } from "./entries.ts";
import { inFolder, orNull, removeTree } from "./in-folder.ts";
import { pause } from "./tail-loop.ts";

export function findStale(root: string, { folder, rule, now }: Of<"findStale">): Promise<StaleEntry[]> {
  return inFolder(root, folder, async (at) => {
    const found: { readonly name: string; readonly usedUntil: number }[] = [];
    for (const { name } of sortedEntries(at())) {
      await pause();
      const usedUntil = timeOfUse(at(name), rule);
      if (usedUntil !== null) found.push({ name, usedUntil });
    }
    return found
      .sort((a, b) => b.usedUntil - a.usedUntil)
      .map((entry, rank) => ({ ...entry, folder, keptMs: keptFor(entry.name, rank, rule) }))
      .filter(({ name, usedUntil, keptMs }) => now - usedUntil > keptMs && name !== rule.except);
  });
}

export function removeStale(root: string, { entry, rule, now }: Of<"removeStale">): Promise<boolean> {
  const { folder, name, keptMs } = entry;
  return inFolder(root, folder, async (at) => {
    const isAside = name.startsWith(rule.unfinished);
    const aside = isAside ? name : `${rule.unfinished}${randomUUID()}`;
    if (!isAside) renameSync(at(name), at(aside));
    // A run that came between the search and the move gets it back.
    if (now - (timeOfUse(at(aside), rule) ?? 0) <= keptMs) {
      if (!isAside) renameSync(at(aside), at(name));
      return false;
    }
    await removeTree(at(), aside);
    return true;
  });
}

function keptFor(name: string, rank: number, rule: SweepRule): number {
  if (name.startsWith(rule.unfinished)) return rule.unfinishedKeptMs;
  return rank < rule.most ? rule.keptMs : rule.surplusKeptMs;
}

/** Null = it is gone. */
function timeOfUse(path: string, { marker }: SweepRule): number | null {
  const timeOf = (file: string): number | null => orNull(() => lstatSync(file).mtimeMs);
  return (marker === null ? null : timeOf(`${path}/${marker}`)) ?? timeOf(path);
}
