import type { ObjectVolume } from "@paperclip-k8s/engine";
import { isAllowedPlace } from "./allowlist.ts";
import { matches } from "./denylist.ts";
import type { EnvInput } from "./inherit-env.ts";
import type { Findings, InheritSettings } from "./inherited.ts";
import { isObject, nameOf, type ObjectMount } from "./mounts.ts";

type Volumes = Record<"secrets" | "configMaps", readonly ObjectVolume[]>;

/** Secrets and ConfigMaps that are mounted in the run's pod too: a variable points to them, the settings name them, or they are where certificates, ssh and git keep their files. */
export function inheritVolumes(input: EnvInput, files: ReadonlySet<ObjectMount>, findings: Findings): Volumes {
  const { server, settings, objects: found } = input;
  const objects = server.mounts.filter(isObject);
  const wanted = objects.filter((mount) => !server.secretMounts.has(mount) && (files.has(mount) || isWanted(mount, settings)));
  const taken = wanted.filter(({ kind, volume }) => found.take(kind, volume.name));
  const missing = wanted.filter((mount) => !taken.includes(mount) && (mount.volume.optional !== true || found.reach === "none"));
  const left = objects.filter((mount) => !wanted.includes(mount));
  if (taken.length > 0) findings.notes.push(`files of the server's pod taken: ${taken.map(placeOf).join(", ")}`);
  if (left.length > 0) findings.notes.push(`files left with the server: ${left.map(placeOf).join(", ")}`);
  if (missing.length > 0) findings.warnings.push(`files not taken: ${found.whyNot}: ${missing.map(placeOf).join(", ")}`);
  for (const mount of taken.filter(isForRootOnly)) {
    const why = "has a mode that lets only root read its files, which a run is not";
    findings.warnings.push(`${placeOf(mount)} ${why}: set it to 0444 in the server's pod`);
  }
  const of = (kind: ObjectMount["kind"]) => taken.filter((mount) => mount.kind === kind).map(({ volume }) => volume);
  return { secrets: of("secret"), configMaps: of("configMap") };
}

function isWanted({ volume, mountPath }: ObjectMount, { inherit, inheritNames }: InheritSettings): boolean {
  return inherit === "all" || matches(volume.name, inheritNames) || isAllowedPlace(mountPath);
}

const placeOf = (mount: ObjectMount): string => `${nameOf(mount)} at ${mount.mountPath}`;

/** Such files belong to root; a group that may read them would need an fsGroup, which changes the shared volume too. */
function isForRootOnly({ volume }: ObjectMount): boolean {
  const modes = volume.items?.map(({ mode }) => mode ?? volume.defaultMode) ?? [volume.defaultMode];
  return modes.some((mode) => mode !== null && (mode & 0o004) === 0);
}
