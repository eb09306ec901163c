import { type ObjectVolume, type OwnClaim, type OwnPod, withoutTrailing } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";

export type Mount =
  | { readonly kind: "claim"; readonly mountPath: string; readonly claim: OwnClaim }
  | { readonly kind: "secret" | "configMap"; readonly mountPath: string; readonly volume: ObjectVolume }
  | { readonly kind: "other"; readonly mountPath: string; readonly what: string };

export type ObjectMount = Extract<Mount, { readonly volume: ObjectVolume }>;

export function mountsOf(pod: OwnPod): Mount[] {
  return [
    ...pod.claims.map((claim) => ({ kind: "claim", mountPath: claim.mountPath, claim }) as const),
    ...pod.secretVolumes.map((volume) => ({ kind: "secret", mountPath: volume.mountPath, volume }) as const),
    ...pod.configMapVolumes.map((volume) => ({ kind: "configMap", mountPath: volume.mountPath, volume }) as const),
    ...pod.otherMounts.map(({ kind, mountPath }) => ({ kind: "other", mountPath, what: kind }) as const),
  ];
}

/** The mount a path lies on: the deepest one above it. Null = the image's own files. */
export function mountAt(mounts: readonly Mount[], path: string): Mount | null {
  const above = mounts.filter(({ mountPath }) => isBelow(path, mountPath));
  return above.reduce<Mount | null>((best, each) => (best && best.mountPath.length >= each.mountPath.length ? best : each), null);
}

/** The mounts that the paths in a variable's value are on, and those below its folders; a search list or a command line may contain several paths. */
export function mountsNamedBy(value: string, mounts: readonly Mount[]): Record<"on" | "below", readonly Mount[]> {
  const paths = pathsIn(value);
  const folders = paths.filter((path) => path.split("/").length > 2);
  return {
    on: [...new Set(paths.map((path) => mountAt(mounts, path)).filter((mount) => mount !== null))],
    below: mounts.filter(({ mountPath }) => folders.some((folder) => isBelow(mountPath, folder))),
  };
}

function pathsIn(value: string): string[] {
  const words = value.split(/[\s:;,=@"']+/).filter((word) => /^\/[^/]/.test(word));
  return words.map((word) => withoutTrailing(word, "/"));
}

export const isObject = (mount: Mount): mount is ObjectMount => mount.kind === "secret" || mount.kind === "configMap";

export function nameOf(mount: Mount): string {
  if (mount.kind === "claim") return `claim ${mount.claim.claimName}`;
  if (mount.kind === "other") return `${mount.what} volume`;
  return `${mount.kind === "secret" ? "Secret" : "ConfigMap"} ${mount.volume.name}`;
}
