import { RequestError } from "../errors.ts";
import type { ObjectVolume, RunRequest } from "../request.ts";
import { withoutTrailing } from "../without-trailing.ts";

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

/** Secrets and ConfigMaps as volumes: one per object and choice of keys, however many places it is mounted at. */
export function objectVolumes(request: RunRequest, ownNames: readonly string[]): { volumes: Record<string, unknown>[]; mounts: Mount[] } {
  const { secrets = [], configMaps = [], scratch } = request.volumes;
  const taken = new Set([...ownNames, ...scratch.map(({ name }) => name)]);
  const volumes = new Map<string, Record<string, unknown> & { readonly name: string }>();
  const mounts: Mount[] = [];
  for (const [source, wanted] of [...secrets.map(secretSource), ...configMaps.map(configMapSource)]) {
    const key = JSON.stringify(source);
    const volume = volumes.get(key) ?? { name: freeName(taken), ...source };
    volumes.set(key, volume);
    const subPath = wanted.subPath === null ? {} : { subPath: wanted.subPath };
    mounts.push({ name: volume.name, mountPath: wanted.mountPath, ...subPath, readOnly: true });
  }
  return { volumes: [...volumes.values()], mounts };
}

/** The request's own volumes keep their names. */
function freeName(taken: Set<string>): string {
  let number = 1;
  while (taken.has(`object-${number}`)) number++;
  taken.add(`object-${number}`);
  return `object-${number}`;
}

type Sourced = readonly [source: Record<string, unknown>, volume: ObjectVolume];

const secretSource = (volume: ObjectVolume): Sourced => [{ secret: { secretName: volume.name, ...choice(volume) } }, volume];
const configMapSource = (volume: ObjectVolume): Sourced => [{ configMap: { name: volume.name, ...choice(volume) } }, volume];

/** Optional: an object deleted since must not keep the pod waiting for it. */
function choice({ items, defaultMode }: ObjectVolume): Record<string, unknown> {
  return { ...(items === null ? {} : { items }), ...(defaultMode === null ? {} : { defaultMode }), optional: true };
}

/** The API server refuses a second mount at a path; here the message can name both volumes. */
export function withoutClash(mounts: readonly Mount[]): readonly Mount[] {
  const seen = new Map<string, string>();
  for (const { name, mountPath } of mounts) {
    const path = withoutTrailing(mountPath, "/", 1);
    const other = seen.get(path);
    if (other !== undefined) throw new RequestError("request_invalid", `volumes "${other}" and "${name}" are both mounted at ${path}`);
    seen.set(path, name);
  }
  return mounts;
}
