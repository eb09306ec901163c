import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type At, inFolder } from "@paperclip-k8s/engine";
import type { BoundedFiles, ReadFile } from "../prompt/bounded-files.ts";
import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";

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
export async function skillFiles(entry: PaperclipSkillEntry, files: BoundedFiles): Promise<SkillFiles> {
  const found = await filesOf(entry.source, files).catch((error: Error) => {
    throw new Error(`${entry.source} was not read (${error.message})`, { cause: error });
  });
  if (!found.some(({ path }) => path === "SKILL.md")) throw new Error(`${entry.source} has no SKILL.md`);
  return { name: folderName(entry.runtimeName), files: found };
}

async function filesOf(source: string, files: BoundedFiles): Promise<readonly BundleFile[]> {
  try {
    return await files.inFolder(source, filesBelow);
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    return [bundleFile("SKILL.md", await files.readFile(source))];
  }
}

async function filesBelow(top: At, read: (file: string) => Promise<ReadFile>): Promise<BundleFile[]> {
  const found: BundleFile[] = [];
  let bytes = 0;
  const walk = async (at: At, folder: string, depth: number): Promise<void> => {
    const entries = await readdir(at(), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH && entry.name !== ".git")
        await inFolder(at(), at(entry.name), (below) => walk(below, path, depth + 1));
      // Links and devices are nothing a skill needs.
      if (!entry.isFile()) continue;
      const file = await read(at(entry.name)).catch(({ message }: Error) => {
        throw new Error(`${path}: ${message}`);
      });
      bytes += file.bytes.length;
      if (found.push(bundleFile(path, file)) > MAX_FILES || bytes > MAX_BYTES)
        throw new Error(`it has more than ${MAX_FILES} files or ${MAX_BYTES / 1024 / 1024} MiB`);
    }
  };
  await walk(top, "", 1);
  return found;
}

const bundleFile = (path: string, { bytes, mode }: ReadFile): BundleFile => ({ path, bytes, executable: (mode & 0o100) !== 0 });

function folderName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "");
  if (safe === "") throw new Error("its name leaves nothing that can be a folder's");
  return safe.slice(0, 100);
}
