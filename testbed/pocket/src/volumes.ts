import { chmodSync, existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KeyToPath, Pod, Volume } from "./pod.ts";
import { podDir } from "./pod-log.ts";
import type { Mapping } from "./rewrite.ts";
import { hostDirAnnotation, type World } from "./world.ts";

/** A volume is not there yet: the text after "MountVolume.SetUp failed for volume". */
export class MountError extends Error {
  readonly volume: string;
  constructor(volume: string, message: string) {
    super(message);
    this.volume = volume;
  }
}

const allContainers = (pod: Pod) => [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];

// A volume that no container mounts is not even looked at, as in life.
export const mountedVolumes = (pod: Pod): Volume[] =>
  (pod.spec.volumes ?? []).filter((volume) => allContainers(pod).some((c) => c.volumeMounts?.some((mount) => mount.name === volume.name)));

const volumeDir = (world: World, pod: Pod, volume: string): string => join(podDir(world, pod.metadata.uid), "volumes", volume);

/** The folder behind each mounted volume; throws MountError as long as one is missing. */
export function setUpVolumes(world: World, pod: Pod): Map<string, string> {
  return new Map(mountedVolumes(pod).map((volume) => [volume.name, setUpVolume(world, pod, volume)]));
}

function setUpVolume(world: World, pod: Pod, volume: Volume): string {
  const dir = volumeDir(world, pod, volume.name);
  const files = contentOf(world, pod, volume);
  if (files) {
    mkdirSync(dir, { recursive: true });
    writeAtomically(dir, files);
    return dir;
  }
  if (volume.persistentVolumeClaim) return claimDir(world, pod, volume);
  if (volume.hostPath) return volume.hostPath.path;
  const image = volume.image && world.images[volume.image.reference]?.folders?.["/"];
  if (image) return image;
  mkdirSync(dir, { recursive: true });
  chmodSync(dir, 0o777);
  return dir;
}

function claimDir(world: World, pod: Pod, volume: Volume): string {
  const name = volume.persistentVolumeClaim!.claimName;
  const claim = world.store.get("persistentvolumeclaims", pod.metadata.namespace, name);
  const dir = claim?.metadata.annotations?.[hostDirAnnotation];
  if (dir === undefined) throw new MountError(volume.name, `persistentvolumeclaim "${name}" not found`);
  mkdirSync(dir, { recursive: true });
  return dir;
}

interface VolumeFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
}

// undefined for volumes that are not made of an object's keys.
function contentOf(world: World, pod: Pod, volume: Volume): VolumeFile[] | undefined {
  const source = volume.secret ?? volume.configMap;
  if (!source) return undefined;
  const name = volume.secret?.secretName ?? volume.configMap?.name ?? "";
  const kind = volume.secret ? "secret" : "configmap";
  const data = volume.secret ? secretBytes(world, pod, name) : configBytes(world, pod, name);
  if (!data && !source.optional) throw new MountError(volume.name, `${kind} "${name}" not found`);
  const items: KeyToPath[] = source.items ?? [...(data?.keys() ?? [])].map((key) => ({ key, path: key }));
  return items.flatMap(({ key, path, mode }) => {
    const bytes = data?.get(key);
    if (!bytes && !source.optional)
      throw new MountError(volume.name, `references non-existent ${kind === "secret" ? "secret" : "config"} key: ${key}`);
    return bytes ? [{ path, bytes, mode: mode ?? source.defaultMode ?? 0o644 }] : [];
  });
}

function secretBytes(world: World, pod: Pod, name: string): Map<string, Buffer> | undefined {
  const secret = world.store.get("secrets", pod.metadata.namespace, name);
  return secret && new Map(Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, "base64")]));
}

function configBytes(world: World, pod: Pod, name: string): Map<string, Buffer> | undefined {
  const config = world.store.get("configmaps", pod.metadata.namespace, name);
  if (!config) return undefined;
  const text = Object.entries(config.data ?? {}).map(([key, value]): [string, Buffer] => [key, Buffer.from(value)]);
  const binary = Object.entries(config.binaryData ?? {}).map(([key, value]): [string, Buffer] => [key, Buffer.from(value, "base64")]);
  return new Map([...text, ...binary]);
}

let generation = 0;

// The kubelet's way: a new folder, then `..data` is swapped over to it, so that a reader sees all of the old or all of the new.
function writeAtomically(dir: string, files: readonly VolumeFile[]): void {
  generation += 1;
  const fresh = `..${new Date().toISOString().replace(/[:T-]/g, "_")}_${generation}`;
  mkdirSync(join(dir, fresh));
  for (const { path, bytes, mode } of files) {
    const file = join(dir, fresh, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    chmodSync(file, mode);
  }
  const old = existsSync(join(dir, "..data")) ? readlinkSync(join(dir, "..data")) : undefined;
  symlinkSync(fresh, join(dir, "..data_tmp"));
  renameSync(join(dir, "..data_tmp"), join(dir, "..data"));
  const wanted = new Set(files.map(({ path }) => path.split("/")[0]!));
  const present = readdirSync(dir).filter((name) => !name.startsWith(".."));
  for (const name of wanted) if (!present.includes(name)) symlinkSync(join("..data", name), join(dir, name));
  for (const name of present) if (!wanted.has(name)) rmSync(join(dir, name));
  if (old) rmSync(join(dir, old), { recursive: true, force: true });
}

/** Brings the files of mounted Secrets and ConfigMaps up to date; what has gone away meanwhile stays as it was. */
export function refreshVolumes(world: World, pod: Pod): void {
  for (const volume of mountedVolumes(pod)) {
    if (!volume.secret && !volume.configMap) continue;
    try {
      setUpVolume(world, pod, volume);
    } catch (error) {
      if (!(error instanceof MountError)) throw error;
    }
  }
}

export function mappingsOf(container: Pod["spec"]["containers"][number], folders: ReadonlyMap<string, string>): Mapping[] {
  // Pods have this machine's own /tmp, since tools that their PATH names may lie below it.
  const mounts = (container.volumeMounts ?? []).filter(({ mountPath }) => mountPath !== "/tmp");
  return mounts.map(({ name, mountPath, subPath }) => {
    const outside = join(folders.get(name)!, subPath ?? "");
    if (subPath && !existsSync(outside)) mkdirSync(outside, { recursive: true });
    return { inside: mountPath.replace(/(?<=.)\/+$/, ""), outside };
  });
}
