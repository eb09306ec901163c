import { realpathSync } from "node:fs";
import { open, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path/posix";
import { mountPointOf } from "@paperclip-k8s/engine";

// The operator's own files, which are not on the shared volume: a ConfigMap's mount, a kubeconfig and the server's program are read by
// the server's process itself.

const MAX_BYTES = 256 * 1024;

/** Changes when the file does; a ConfigMap's mount exchanges the folder that its links lead to. */
export async function versionOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeMs } = await stat(path);
  return [dev, ino, size, mtimeMs].join(":");
}

export async function readPolicyText(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    if (!(await file.stat()).isFile()) throw new Error("it is not a file");
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      ({ bytesRead: read } = await file.read(bytes, length, bytes.length - length));
    if (length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1024} KiB`);
    return bytes.toString("utf8", 0, length);
  } finally {
    await file.close();
  }
}

/** Where a file really is; null = it is not there. */
export async function realPath(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

const MOST_LINKS = 40;

/** Where a mount point really is. Only links and what is above it are looked at: the mount itself may hang. */
export async function realMount(path: string, links = MOST_LINKS): Promise<string> {
  const place = join((await realPath(dirname(path))) ?? dirname(path), basename(path));
  if (links === 0 || mountPointOf(place) === place) return place;
  const target = await readlink(place).catch(() => null);
  return target === null ? place : realMount(resolve(dirname(place), target), links - 1);
}

/**
 * The path by which a file is opened from now on: no link is on it that could be changed meanwhile. Those of a Secret's or ConfigMap's
 * mount stay, in its folder: the file that they lead to is removed when its content changes.
 */
export async function steadyPath(path: string): Promise<string | null> {
  const folder = await realPath(dirname(path));
  const named = join(folder ?? "/", basename(path));
  const target = await readlink(named).catch(() => "");
  return target.startsWith("..data/") ? named : realPath(path);
}

/** The file that this server was started with. */
export const serverProgram = (): string => realOr(process.argv[1] ?? "/");

/** Where a package may lie that the server's program uses: as Node.js looks for it, from folder to folder upwards. */
export function packageFolders(name: string): string[] {
  const above: string[] = [];
  for (let folder = dirname(serverProgram()); !above.includes(folder); folder = dirname(folder)) above.push(folder);
  return above.map((folder) => realOr(join(folder, "node_modules", name)));
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
