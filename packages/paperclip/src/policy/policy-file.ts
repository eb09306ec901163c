import { open, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path/posix";

// The operator's own files, which are not on the shared volume: a ConfigMap's mount and a kubeconfig are read by the server's process itself.

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

/** Where a file really is; its own path if it is not there. */
export async function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Where a mount point really is. Only what is above it is looked at: the mount itself may hang. */
export async function realMount(path: string): Promise<string> {
  return join(await realPath(dirname(path)), basename(path));
}
