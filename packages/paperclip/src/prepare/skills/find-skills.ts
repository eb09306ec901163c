import { join } from "node:path";
import type { BoundedFiles } from "../prompt/bounded-files.ts";
import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";

export interface FoundSkills {
  /** All that there are: the host's, then those in the shared volume's own folder. */
  readonly entries: readonly PaperclipSkillEntry[];
  /** Keys of the wanted ones, in order; a key without an entry is missing. */
  readonly desired: readonly string[];
}

/** Skills that people put on the shared volume themselves. */
export function ownSkillsFolder(dataPath: string): string {
  return join(dataPath, ".claude", "skills");
}

/** The host resolves names its own way; we only show it one more folder. */
export async function findSkills(config: Readonly<Record<string, unknown>>, dataPath: string, files: BoundedFiles): Promise<FoundSkills> {
  const host = await import("../prompt/host-rendering.ts");
  const folder = ownSkillsFolder(dataPath);
  const managed = await host.readPaperclipRuntimeSkillEntries({ ...config }, import.meta.dirname);
  const taken = new Set(managed.map((entry) => entry.runtimeName));
  const names = (await files.list(folder).catch(() => [])).filter((name) => !name.startsWith("."));
  const own = names.map((name) => ({ key: name.replace(/\.md$/, ""), runtimeName: name.replace(/\.md$/, ""), source: join(folder, name) }));
  const entries = [...managed, ...own.filter((entry) => !taken.has(entry.runtimeName))];
  return { entries, desired: host.resolveLegacyPaperclipDesiredSkillNames({ ...config }, entries) };
}
