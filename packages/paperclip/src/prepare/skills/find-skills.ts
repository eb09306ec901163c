import { join } from "node:path";
import type { FolderEntry } from "@paperclip-k8s/engine";
import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";
import type { ServerFiles } from "../prompt/server-files.ts";

/** Where skills are, in an agent's settings. */
export interface SkillPlaces {
  readonly dataPath: string;
  /** Skills that people put on the shared volume themselves. */
  readonly skillsFolder: string;
}

export interface FoundSkills {
  /** All that there are: the host's, then those in the shared volume's own folder. */
  readonly entries: readonly PaperclipSkillEntry[];
  /** Keys of the wanted ones, in order; a key without an entry is missing. */
  readonly desired: readonly string[];
  /** What lies in the shared volume's own folder. */
  readonly own: readonly FolderEntry[];
}

/** The host resolves names its own way; we only show it one more folder. */
export async function findSkills(
  config: Readonly<Record<string, unknown>>,
  { skillsFolder: folder }: SkillPlaces,
  files: ServerFiles,
): Promise<FoundSkills> {
  const host = await import("../prompt/host-rendering.ts");
  // Without a list the host's library would look for skills beside this file, on whatever disk that is.
  const given = Array.isArray(config.paperclipRuntimeSkills) ? config.paperclipRuntimeSkills : [];
  const managed = await host.readPaperclipRuntimeSkillEntries({ ...config, paperclipRuntimeSkills: given }, folder);
  const taken = new Set(managed.map((entry) => entry.runtimeName));
  const own = await files.list(folder).catch(() => []);
  const visible = own.filter(({ name }) => !name.startsWith("."));
  const found = visible.map(({ name }) => ({
    key: name.replace(/\.md$/, ""),
    runtimeName: name.replace(/\.md$/, ""),
    source: join(folder, name),
  }));
  const entries = [...managed, ...found.filter((entry) => !taken.has(entry.runtimeName))];
  return { entries, desired: host.resolveLegacyPaperclipDesiredSkillNames({ ...config }, entries), own };
}
