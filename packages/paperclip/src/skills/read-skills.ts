import { dirname, join } from "node:path";
import { isBelow } from "../environment/context-values.ts";
import type { BoundedFiles } from "../prompting/bounded-files.ts";
import type { PaperclipSkillEntry } from "../prompting/host-rendering.ts";
import { findSkills } from "./find-skills.ts";

const SEPARATOR = "\n\n---\n\n";

export interface SkillTexts {
  readonly text: string;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

/** The texts of the wanted skills; one that cannot be had is named and left out. */
export async function readSkills(config: Readonly<Record<string, unknown>>, dataPath: string, files: BoundedFiles): Promise<SkillTexts> {
  const { entries, desired } = await findSkills(config, dataPath, files);
  const texts: string[] = [];
  const loaded: string[] = [];
  const warnings: string[] = [];
  for (const key of desired) {
    const entry = entries.find((candidate) => candidate.key === key);
    try {
      texts.push(await skillText(key, entry, dataPath, files));
      loaded.push(entry?.runtimeName ?? key);
    } catch (error) {
      warnings.push(`skill "${key}" is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { text: texts.join(SEPARATOR), notes: loaded.length === 0 ? [] : [`skills: ${loaded.join(", ")}`], warnings };
}

async function skillText(key: string, entry: PaperclipSkillEntry | undefined, dataPath: string, files: BoundedFiles): Promise<string> {
  if (entry === undefined) throw new Error("it is not among the company's skills");
  if (entry.sourceStatus === "missing") throw new Error(entry.missingDetail ?? "its files are not on the server's disk");
  const { text, folder } = await skillFile(entry.source, files);
  if (text.trim() === "") throw new Error(`its text in ${folder} is empty`);
  // A folder of the server alone, where the host's built-in skills are, is not there in a pod.
  const where = isBelow(folder, dataPath) ? ` (its own files are in ${folder})` : "";
  return `Skill "${key}"${where}:\n\n${text.trim()}`;
}

/** A skill is a folder with SKILL.md, or the file itself. */
async function skillFile(source: string, files: BoundedFiles): Promise<{ text: string; folder: string }> {
  try {
    return { text: await files.read(join(source, "SKILL.md")), folder: source };
  } catch (inFolder) {
    try {
      return { text: await files.read(source), folder: dirname(source) };
    } catch (asFile) {
      const reason = (asFile as Error).message === "not a file" ? `SKILL.md: ${(inFolder as Error).message}` : (asFile as Error).message;
      throw new Error(`${source} was not read (${reason})`);
    }
  }
}
