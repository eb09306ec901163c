import { resolve } from "node:path";
import type { FolderEntry } from "@paperclip-k8s/engine";
import type { SkillContext, SkillSnapshot } from "../../host/types.ts";
import type { Policy } from "../../policy/policy.ts";
import { skillPlaces } from "../prompt/file-places.ts";
import { ServerFiles } from "../prompt/server-files.ts";
import { findSkills, type SkillPlaces } from "./find-skills.ts";

interface Checked {
  readonly config: SkillPlaces;
  readonly policy: Policy;
}

/** Which skills there are and which the next run gets. */
export async function listSkills(ctx: SkillContext, { config: places, policy }: Checked): Promise<SkillSnapshot> {
  const host = await import("../prompt/host-rendering.ts");
  const { entries, desired, own } = await findSkills(ctx.config, places, new ServerFiles([places.dataPath], skillPlaces(places, policy)));
  const folder = places.skillsFolder;
  // People's own skills are shown as theirs, unless the agent wants them.
  const isOwn = (entry: { readonly source: string }) => entry.source.startsWith(`${folder}/`);
  return host.buildRuntimeMountedSkillSnapshot({
    adapterType: ctx.adapterType,
    availableEntries: entries.filter((entry) => !isOwn(entry) || desired.includes(entry.key)),
    desiredSkills: [...desired],
    mode: "ephemeral",
    configuredDetail: "Given to the agent from the next run on.",
    missingDetail: "Paperclip cannot find this skill on the server's disk.",
    externalInstalled: installed(folder, own),
    externalLocationLabel: folder,
    externalDetail: "Lies on the shared volume; add its name to the agent's skills to use it.",
    skillsHome: folder,
  });
}

/** As the host's own library would find them, which reads folders in the server's process. */
function installed(folder: string, own: readonly FolderEntry[]) {
  const kinds = { link: "symlink", folder: "directory", file: "file", other: "file" } as const;
  return new Map(own.map(({ name, kind, target }) => [name, { targetPath: resolve(folder, target ?? name), kind: kinds[kind] }]));
}

/** Nothing is installed: each run takes its skills along. The answer shows what the new choice leads to. */
export async function syncSkills(ctx: SkillContext, desiredSkills: readonly string[], checked: Checked): Promise<SkillSnapshot> {
  const { writePaperclipSkillSyncPreference } = await import("../prompt/host-rendering.ts");
  return listSkills({ ...ctx, config: writePaperclipSkillSyncPreference(ctx.config, [...desiredSkills]) }, checked);
}
