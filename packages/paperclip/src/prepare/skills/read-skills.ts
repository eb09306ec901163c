import { dirname, join } from "node:path";
import { isBelow } from "../../host/context-values.ts";
import type { Raw } from "../../settings/field.ts";
import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";
import type { ReadText } from "../prompt/instructions.ts";
import type { ServerFiles } from "../prompt/server-files.ts";
import { chosenSkills, type SkillPlaces } from "./find-skills.ts";

const SEPARATOR = "\n\n---\n\n";

/** The texts of the wanted skills; one that cannot be had is named and left out. */
export async function readSkills(
  config: Raw,
  places: SkillPlaces,
  files: ServerFiles,
  isMounted: (folder: string) => boolean = (folder) => isBelow(folder, places.dataPath),
): Promise<ReadText> {
  const textOf = (key: string, entry: PaperclipSkillEntry) => skillText(key, entry, isMounted, files);
  const { read, notes, warnings } = await chosenSkills(config, places, files, textOf);
  return { text: read.join(SEPARATOR), notes, warnings };
}

async function skillText(
  key: string,
  entry: PaperclipSkillEntry,
  isMounted: (folder: string) => boolean,
  files: ServerFiles,
): Promise<string> {
  const { text, folder } = await skillFile(entry.source, files);
  if (text.trim() === "") throw new Error(`its text in ${folder} is empty`);
  // A folder that the pod does not have, as that of the host's built-in skills, is of no use to it.
  const where = isMounted(folder) ? ` (its own files are in ${folder})` : "";
  return `Skill "${key}"${where}:\n\n${text.trim()}`;
}

/** A skill is a folder with SKILL.md, or the file itself. */
async function skillFile(source: string, files: ServerFiles): Promise<{ text: string; folder: string }> {
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
