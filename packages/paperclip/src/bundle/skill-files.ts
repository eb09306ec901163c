import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BoundedFiles } from "../prompting/bounded-files.ts";
import type { PaperclipSkillEntry } from "../prompting/host-rendering.ts";
import { stayOnVolume } from "../skills/stay-on-volume.ts";

const MAX_FILES = 500;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_DEPTH = 8;

/** A file of a bundle, by its path in it. */
export interface BundleFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly executable: boolean;
}

export interface SkillFiles {
  /** Its folder's name in the bundle. */
  readonly name: string;
  readonly files: readonly BundleFile[];
}

/** All files of a skill: a folder with SKILL.md, or one file that becomes it. */
export async function skillFiles(entry: PaperclipSkillEntry, dataPath: string, files: BoundedFiles): Promise<SkillFiles> {
  const source = await files.within(() => realpath(entry.source)).catch((error: Error) => unread(entry.source, error));
  await stayOnVolume(entry.source, dataPath, files);
  const isFolder = (await files.within(() => stat(source))).isDirectory();
  const found = isFolder ? await filesBelow(source, files) : [await fileAt(source, "SKILL.md", files)];
  if (!found.some(({ path }) => path === "SKILL.md")) throw new Error(`${entry.source} has no SKILL.md`);
  return { name: folderName(entry.runtimeName), files: found };
}

async function filesBelow(root: string, files: BoundedFiles): Promise<BundleFile[]> {
  const found: BundleFile[] = [];
  let bytes = 0;
  const walk = async (folder: string, depth: number): Promise<void> => {
    const entries = await files.within(() => readdir(join(root, folder), { withFileTypes: true }));
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH && entry.name !== ".git") await walk(path, depth + 1);
      // Links and devices are nothing a skill needs.
      if (!entry.isFile()) continue;
      const file = await fileAt(join(root, path), path, files);
      bytes += file.bytes.length;
      if (found.push(file) > MAX_FILES || bytes > MAX_BYTES)
        throw new Error(`it has more than ${MAX_FILES} files or ${MAX_BYTES / 1024 / 1024} MiB`);
    }
  };
  await walk("", 1);
  return found;
}

async function fileAt(source: string, path: string, files: BoundedFiles): Promise<BundleFile> {
  try {
    const { mode } = await files.within(() => lstat(source));
    return { path, bytes: await files.readBytes(source), executable: (mode & 0o100) !== 0 };
  } catch (error) {
    return unread(source, error as Error);
  }
}

function unread(source: string, error: Error): never {
  throw new Error(`${source} was not read (${error.message})`);
}

function folderName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "");
  if (safe === "") throw new Error("its name leaves nothing that can be a folder's");
  return safe.slice(0, 100);
}
