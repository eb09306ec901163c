import { join } from "node:path";
import { type FolderEntry, messageOf } from "@paperclip-k8s/engine";
import type { AgentConfig } from "../../settings/agent-config.ts";
import type { Raw } from "../../settings/field.ts";
import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";
import type { ReadText } from "../prompt/instructions.ts";
import type { ServerFiles } from "../prompt/server-files.ts";

/** Where skills are: those of the host, and those that people put on the shared volume themselves. */
export type SkillPlaces = Pick<AgentConfig, "dataPath" | "skillsFolder">;

interface FoundSkills {
  /** All that there are: the host's, then those in the shared volume's own folder. */
  readonly entries: readonly PaperclipSkillEntry[];
  /** Keys of the wanted ones, in order; a key without an entry is missing. */
  readonly desired: readonly string[];
  /** What lies in the shared volume's own folder. */
  readonly own: readonly FolderEntry[];
}

/** The host resolves names its own way; we only show it one more folder. */
export async function findSkills(config: Raw, { skillsFolder: folder }: SkillPlaces, files: ServerFiles): Promise<FoundSkills> {
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

interface ChosenSkills<T> extends Omit<ReadText, "text"> {
  /** What became of each chosen skill, in the order of the choice. */
  readonly read: readonly T[];
}

/** Reads each skill the agent is to have; one that cannot be had is named and left out. */
export async function chosenSkills<T>(
  config: Raw,
  places: SkillPlaces,
  files: ServerFiles,
  read: (key: string, entry: PaperclipSkillEntry) => Promise<T>,
): Promise<ChosenSkills<T>> {
  const { entries, desired } = await findSkills(config, places, files);
  const found: T[] = [];
  const loaded: string[] = [];
  const warnings: string[] = [];
  for (const key of desired) {
    const entry = entries.find((candidate) => candidate.key === key);
    try {
      found.push(await read(key, present(entry)));
      loaded.push(entry?.runtimeName ?? key);
    } catch (error) {
      warnings.push(`skill "${key}" is left out: ${messageOf(error)}`);
    }
  }
  return { read: found, notes: loaded.length === 0 ? [] : [`skills: ${loaded.join(", ")}`], warnings };
}

function present(entry: PaperclipSkillEntry | undefined): PaperclipSkillEntry {
  if (entry === undefined) throw new Error("it is not among the company's skills");
  if (entry.sourceStatus === "missing") throw new Error(entry.missingDetail ?? "its files are not on the server's disk");
  return entry;
}
