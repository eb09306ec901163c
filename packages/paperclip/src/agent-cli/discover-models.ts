import type { Model } from "../host/types.ts";

const CACHE_MS = 60_000;

/** Known models first, then what else `report` lists, asked for at most once a minute; a report that fails leaves the known ones. */
export function createModelDiscovery<Asked extends readonly unknown[]>(
  known: (...asked: Asked) => readonly Model[],
  report: (...asked: Asked) => Promise<readonly Model[]>,
  now: () => number = Date.now,
): (...asked: Asked) => Promise<Model[]> {
  let last: { readonly at: number; readonly models: Promise<Model[]> } | null = null;
  return (...asked) => {
    if (last === null || now() - last.at >= CACHE_MS) last = { at: now(), models: merged(known(...asked), report(...asked)) };
    return last.models;
  };
}

async function merged(known: readonly Model[], report: Promise<readonly Model[]>): Promise<Model[]> {
  const reported = await report.catch(() => []);
  // The known ones are first in place, and their labels count.
  return [...new Map([...known, ...reported, ...known].map((model) => [model.id, { ...model }])).values()];
}
