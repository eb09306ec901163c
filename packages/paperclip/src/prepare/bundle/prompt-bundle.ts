import { join } from "node:path";
import { type TreeFile, withVolume } from "@paperclip-k8s/engine";
import type { BundleLayout, PromptBundle } from "../../agent-cli/agent-cli.ts";
import { bundlesFolder, UNFINISHED_BUNDLE } from "../../host/paths.ts";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import { sha256 } from "../../sha256.ts";
import type { RunInputs } from "../attempt.ts";
import type { Inherited } from "../inherit/inherited.ts";
import { filePlaces } from "../prompt/file-places.ts";
import type { PaperclipSkillEntry } from "../prompt/host-rendering.ts";
import { readInstructions } from "../prompt/instructions.ts";
import { ServerFiles } from "../prompt/server-files.ts";
import { chosenSkills } from "../skills/find-skills.ts";

const WRITE_TIMEOUT_MS = 30_000;

/** The claim of the volume, which may be mounted above the data path. */
interface SharedVolume {
  readonly inherited: { readonly claim: Pick<Inherited["claim"], "mountPath"> };
}

/** Writes the bundle this run needs, unless it is there, and marks it as used. */
export async function prepareBundle(
  { ctx, config, policy, cwd, inherited }: Pick<RunInputs, "ctx" | "config" | "policy" | "cwd"> & SharedVolume,
  layout: BundleLayout,
): Promise<PromptBundle> {
  const files = new ServerFiles([config.dataPath, inherited.claim.mountPath], filePlaces(ctx, config, policy, cwd));
  const instructions = await readInstructions(config.instructionsFilePath, cwd, files, policy);
  const read = (_: string, entry: Parameters<typeof skillFiles>[0]) => skillFiles(entry, files);
  const skills = await chosenSkills(ctx.config, config, files, read);
  const content = contentOf(layout, instructions.text, skills.read);
  const key = content.length === 0 ? "none" : keyOf(content);
  const place: BundlePlace = { root: config.dataPath, folder: bundlesFolder(ctx, config), key };
  const folder =
    content.length === 0 ? null : await writeBundle(place, content, Date.now() + (config.timeoutSec || config.maxRunSec) * 1000);
  return {
    key,
    folder,
    instructionsFile: folder === null || instructions.text === "" ? null : `${folder}/${layout.instructions}`,
    instructionsChars: instructions.text.length,
    skillsChars: skills.read.flatMap((skill) => skill.files).reduce((sum, file) => sum + file.bytes.length, 0),
    notes: [...instructions.notes, ...skills.notes, ...(folder === null ? [] : [`bundle ${folder}`])],
    warnings: [...instructions.warnings, ...skills.warnings],
  };
}

interface BundlePlace {
  /** Mount point of the shared volume. */
  readonly root: string;
  /** Holds the bundles of one company. */
  readonly folder: string;
  readonly key: string;
}

/** Pods can change a bundle: one that is not as it was written is left alone, and a copy is written beside it. */
export async function writeBundle({ root, folder, key }: BundlePlace, files: readonly TreeFile[], usedUntil: number): Promise<string> {
  const tree = { folder, key, files, usedUntil, unfinished: UNFINISHED_BUNDLE };
  try {
    return join(folder, await withVolume(root, (volume) => volume.run("storeTree", tree, WRITE_TIMEOUT_MS)));
  } catch (error) {
    throw new UnusableVolume(`skills and instructions cannot be written to ${folder}: ${(error as Error).message}`, { cause: error });
  }
}

function contentOf(layout: BundleLayout, instructions: string, skills: readonly SkillFiles[]): TreeFile[] {
  const names = new Set<string>();
  const own = skills.filter(({ name }) => !names.has(name) && names.add(name));
  const files = own.flatMap((skill) => skill.files.map((file) => ({ ...file, path: `${layout.skills}/${skill.name}/${file.path}` })));
  if (instructions === "") return files;
  return [...files, { path: layout.instructions, bytes: Buffer.from(`${instructions}\n`), executable: false }];
}

/** The same content has the same key, in whatever order it was read. */
function keyOf(content: readonly TreeFile[]): string {
  const sums = content.map(({ path, bytes, executable }) => `${path}\0${executable}\0${sha256(bytes)}\n`);
  return sha256(sums.sort().join("")).slice(0, 32);
}

interface SkillFiles {
  /** Its folder's name in the bundle. */
  readonly name: string;
  readonly files: readonly TreeFile[];
}

/** All files of a skill: a folder with SKILL.md, or one file that becomes it. */
async function skillFiles(entry: PaperclipSkillEntry, files: ServerFiles): Promise<SkillFiles> {
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
