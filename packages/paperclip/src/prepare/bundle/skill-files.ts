import type { TreeFile } from "@paperclip-k8s/engine";
import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";
import type { ServerFiles } from "../prompt/server-files.ts";

export interface SkillFiles {
  /** Its folder's name in the bundle. */
  readonly name: string;
  readonly files: readonly TreeFile[];
}

/** All files of a skill: a folder with SKILL.md, or one file that becomes it. */
export async function skillFiles(entry: PaperclipSkillEntry, files: ServerFiles): Promise<SkillFiles> {
  const tree = await files.readTree(entry.source).catch((error: Error) => {
    throw new Error(`${entry.source} was not read (${error.message})`, { cause: error });
  });
  const found = tree.map((file) => (file.path === "" ? { ...file, path: "SKILL.md" } : file));
  if (!found.some(({ path }) => path === "SKILL.md")) throw new Error(`${entry.source} has no SKILL.md`);
  return { name: folderName(entry.runtimeName), files: found };
}

function folderName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "");
  if (safe === "") throw new Error("its name leaves nothing that can be a folder's");
  return safe.slice(0, 100);
}
