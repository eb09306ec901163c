import { RequestError } from "../errors.ts";
import type { SharedMount, SharedVolume } from "../request.ts";
import { withoutTrailing } from "../without-trailing.ts";

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

/** Where a pod has the shared volume: folder by folder, or the whole of it with some folders read-only. */
export function sharedMounts(name: string, shared: SharedVolume): VolumeMount[] {
  const { mountPath, subPath, mounts = null, readOnly = [] } = shared;
  const mount = ({ path, readOnly }: SharedMount): VolumeMount => ({
    name,
    mountPath: path,
    subPath: subPathOf(shared, path),
    ...(readOnly ? { readOnly } : {}),
  });
  if (mounts !== null) return mounts.map(mount);
  const whole = { name, mountPath, ...(subPath === null ? {} : { subPath }) };
  return [whole, ...readOnly.map((path) => mount({ path, readOnly: true }))];
}

/** Where a folder below the shared volume's mount lies in its claim. */
function subPathOf({ mountPath, subPath }: SharedVolume, folder: string): string {
  const root = withoutTrailing(mountPath, "/");
  const inside = folder.startsWith(`${root}/`) ? folder.slice(root.length + 1) : "";
  if (inside === "") throw new RequestError("request_invalid", `${folder} is not a folder on the volume mounted at ${mountPath}`);
  return subPath === null ? inside : `${withoutTrailing(subPath, "/")}/${inside}`;
}
