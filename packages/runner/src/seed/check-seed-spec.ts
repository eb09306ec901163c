// Says what is wrong with a seed spec: every path in it is used as it stands.
import { isAbsolute } from "node:path";
import { ownHome } from "../cli/own-home.ts";
import type { SeedSpec } from "../records.ts";

/** Throws errors with texts fit for the termination message. */
export function checkedSeed(given: SeedSpec | null | undefined): SeedSpec | null {
  if (given === null || given === undefined) return null;
  const seed = { ...given, home: ownHome(given.home) };
  for (const name of ["from", "home"] as const)
    if (typeof seed[name] !== "string" || !isAbsolute(seed[name])) throw new Error(`the spec's seed.${name} is not an absolute path`);
  const isBelow = (path: unknown): boolean => typeof path === "string" && path.split("/").every((name) => !["", ".", ".."].includes(name));
  if (!Array.isArray(seed.files) || !seed.files.every(({ path, to = path }) => isBelow(path) && isBelow(to)))
    throw new Error("the spec's seed.files are not paths below its folders");
  if (typeof seed.maxBytes !== "number" || !(seed.maxBytes >= 0)) throw new Error("the spec's seed.maxBytes is not a number");
  return seed;
}
