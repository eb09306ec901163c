import { realpath } from "node:fs/promises";
import { isBelow } from "../environment/context-values.ts";
import type { BoundedFiles } from "../prompting/bounded-files.ts";
import { ownSkillsFolder } from "./find-skills.ts";

/** Pods write on the shared volume: a link they put among people's own skills must not bring files of the server along. */
export async function stayOnVolume(path: string, dataPath: string, files: BoundedFiles): Promise<void> {
  if (!isBelow(path, ownSkillsFolder(dataPath))) return;
  const [target, root] = await files.within(() => Promise.all([realpath(path), realpath(dataPath)]));
  if (!isBelow(target, root)) throw new Error(`${path} leads out of ${dataPath}`);
}
