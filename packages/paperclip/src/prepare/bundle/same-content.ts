import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { type At, inFolder } from "@paperclip-k8s/engine";
import type { BundleFile } from "./skill-files.ts";

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface Folder {
  readonly files: Map<string, Buffer>;
  readonly folders: Map<string, Folder>;
}

/** Has the folder exactly these files, byte by byte, and none beside them? Modes are left to the mount: some know none. */
export function hasContent(at: At, content: readonly BundleFile[]): Promise<boolean> {
  return isSame(at, treeOf(content));
}

function treeOf(content: readonly BundleFile[]): Folder {
  const top: Folder = { files: new Map(), folders: new Map() };
  for (const { path, bytes } of content) {
    const names = path.split("/");
    const name = names.pop() ?? "";
    let folder = top;
    for (const each of names) {
      const below = folder.folders.get(each) ?? { files: new Map(), folders: new Map() };
      folder.folders.set(each, below);
      folder = below;
    }
    folder.files.set(name, bytes);
  }
  return top;
}

async function isSame(at: At, { files, folders }: Folder): Promise<boolean> {
  if ((await readdir(at())).length !== files.size + folders.size) return false;
  for (const [name, bytes] of files) if (!(await isSameFile(at(name), bytes))) return false;
  for (const [name, folder] of folders) if (!(await inFolder(at(), at(name), (below) => isSame(below, folder)))) return false;
  return true;
}

async function isSameFile(path: string, bytes: Buffer): Promise<boolean> {
  const handle = await open(path, READ_FLAGS);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size !== bytes.length) return false;
    const found = Buffer.allocUnsafe(bytes.length);
    for (let have = 0; have < found.length; ) {
      const { bytesRead } = await handle.read(found, have, found.length - have, have);
      if (bytesRead === 0) return false;
      have += bytesRead;
    }
    return found.equals(bytes);
  } finally {
    await handle.close();
  }
}
