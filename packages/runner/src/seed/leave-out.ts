// Copies of JSON files without the entries that another program once left in them. Whoever wrote the files: nothing here trusts them.
import { isDeepStrictEqual } from "node:util";
import type { LeftOut } from "../records.ts";

/** A settings file is small; a larger one is copied as it is. */
export const LARGEST_EDITED: number = 1024 * 1024;
/** A wildcard must not be kept busy by a file that is all branches. */
const MOST_ENTRIES = 10_000;

export interface Edited {
  /** Null = nothing was left out: the file is copied as it is. */
  readonly text: string | null;
  /** What was left out, one line each. */
  readonly left: readonly string[];
}

const UNCHANGED: Edited = { text: null, left: [] };

/** Text that is no JSON stays as it is; it never throws for what is in the file, but for a file that cannot be written anew without its entry. */
export function withoutEntries(text: string, rules: readonly LeftOut[]): Edited {
  const root = parsed(text);
  if (root === undefined) return UNCHANGED;
  const budget = { left: MOST_ENTRIES };
  const left = rules.flatMap(({ at, is, why }) => removed(root, at, is, budget).map((path) => `${path.join(".")} (${why})`));
  return left.length === 0 ? UNCHANGED : { text: `${JSON.stringify(root, null, 2)}\n`, left };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Container = Record<string, unknown> | unknown[];

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

/** Takes out the entries at this place that are exactly this, and containers that are empty without them. Returns their paths. */
function removed(value: unknown, at: LeftOut["at"], is: unknown, budget: { left: number }): string[][] {
  const [step, ...rest] = at;
  if (!isContainer(value) || step === undefined) return [];
  const paths: string[][] = [];
  // From the end, so that the places of items before it stay what they are.
  for (const key of keysOf(value, step).reverse()) {
    if (budget.left-- <= 0) break;
    const item = (value as Record<string, unknown>)[key];
    const found =
      rest.length > 0 ? removed(item, rest, is, budget).map((path) => [key, ...path]) : isDeepStrictEqual(item, is) ? [[key]] : [];
    paths.unshift(...found);
    const isEmpty = rest.length === 0 || (isContainer(item) && Object.keys(item).length === 0);
    if (found.length > 0 && isEmpty) take(value, key);
  }
  return paths;
}

function keysOf(value: Container, step: string | null): string[] {
  if (step === null) return Object.keys(value);
  return Object.hasOwn(value, step) ? [step] : [];
}

function take(value: Container, key: string): void {
  if (Array.isArray(value)) value.splice(Number(key), 1);
  else delete value[key];
}
