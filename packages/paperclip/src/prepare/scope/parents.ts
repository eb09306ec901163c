import type { SharedMount } from "@paperclip-k8s/engine";
import { type InstancePlace, writablePlaces } from "../../host/paths.ts";
import type { PolicyVolume } from "../../policy/policy.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { isAbove, matchedFolder } from "./path-patterns.ts";

/**
 * Refuses a mount below a folder that some agent can write to: it could put a link in the mount's place after we have looked at it,
 * and the pod would get what the link leads to, another company's files or the host's database.
 */
export function checkParents(mounts: readonly SharedMount[], volume: PolicyVolume, place: Pick<InstancePlace, "dataPath">): void {
  for (const { path } of mounts) {
    const above = writableAbove(path, volume, place);
    if (above !== null) throw new ConfigError("volume.paths", unsafe(path, above));
  }
}

/** The folder above this one that some agent can write to; null = none. */
export const writableAbove = (path: string, { paths }: PolicyVolume, place: Pick<InstancePlace, "dataPath">): string | null =>
  writableBy(paths, place).find((each) => isAbove(each, path)) ?? null;

/** Refuses files for the homes of all agents that one of them can write. */
export function checkSeeds(seeds: readonly string[], { paths }: PolicyVolume, place: Pick<InstancePlace, "dataPath">): void {
  const touches = (writable: string, path: string): boolean =>
    isAbove(writable, path) || isAbove(path, writable) || matchedFolder(writable, path) === path;
  for (const path of seeds) {
    const writable = writableBy(paths, place).find((each) => touches(each, path));
    if (writable !== undefined)
      throw new ConfigError(
        "seeds.folder",
        `agents can write to ${writable}, so ${path} cannot go into the homes of others: use another folder, or seeds.secret`,
      );
  }
}

/** What some agent's pod may write to, of every agent and run. */
function writableBy(paths: PolicyVolume["paths"], place: Pick<InstancePlace, "dataPath">): string[] {
  return [...writablePlaces(place), ...paths.filter(({ readOnly }) => !readOnly).map(({ path }) => path)];
}

const unsafe = (path: string, above: string): string =>
  `${path} cannot be mounted by itself, because agents can write to ${above} above it and could put a link in its place. ` +
  "In the policy, name the folder above for both, make it readOnly, or move one of them";
