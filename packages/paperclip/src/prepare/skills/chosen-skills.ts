import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";
import type { ServerFiles } from "../prompt/server-files.ts";
import { findSkills, type SkillPlaces } from "./find-skills.ts";

export interface ChosenSkills<T> {
  /** What became of each chosen skill, in the order of the choice. */
  readonly read: readonly T[];
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

type Read<T> = (key: string, entry: PaperclipSkillEntry) => Promise<T>;

/** Reads each skill the agent is to have; one that cannot be had is named and left out. */
export async function chosenSkills<T>(
  config: Readonly<Record<string, unknown>>,
  places: SkillPlaces,
  files: ServerFiles,
  read: Read<T>,
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
      warnings.push(`skill "${key}" is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { read: found, notes: loaded.length === 0 ? [] : [`skills: ${loaded.join(", ")}`], warnings };
}

function present(entry: PaperclipSkillEntry | undefined): PaperclipSkillEntry {
  if (entry === undefined) throw new Error("it is not among the company's skills");
  if (entry.sourceStatus === "missing") throw new Error(entry.missingDetail ?? "its files are not on the server's disk");
  return entry;
}
