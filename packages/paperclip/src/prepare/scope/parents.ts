import type { SharedMount } from "@paperclip-k8s/engine";
import { type InstancePlace, writablePlaces } from "../../host/paths.ts";
import type { PolicyVolume } from "../../policy/policy.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { isAbove } from "./path-patterns.ts";

/**
 * Refuses a mount below a folder that some agent can write to: it could put a link in the mount's place after we have looked at it,
 * and the pod would get what the link leads to, another company's files or the host's database.
 */
export function checkParents(mounts: readonly SharedMount[], { paths }: PolicyVolume, place: Pick<InstancePlace, "dataPath">): void {
  const writable = [...writablePlaces(place), ...paths.filter(({ readOnly }) => !readOnly).map(({ path }) => path)];
  for (const { path } of mounts) {
    const above = writable.find((each) => isAbove(each, path));
    if (above !== undefined) throw new ConfigError("volume.paths", unsafe(path, above));
  }
}

const unsafe = (path: string, above: string): string =>
  `${path} cannot be mounted by itself, because agents can write to ${above} above it and could put a link in its place. ` +
  "In the policy, name the folder above for both, make it readOnly, or move one of them";
