import { normalize, resolve } from "node:path/posix";
import { withoutTrailing } from "@paperclip-k8s/engine";
import type { PromptBundle } from "../../agent-cli/agent-cli.ts";
import { isBelow, recordOf, recordsOf, textOf } from "../../host/context-values.ts";
import { agentHome, companySkills, instructionsFolder } from "../../host/paths.ts";
import type { RunParts } from "../attempt.ts";
import type { Seeds } from "../state/find-seeds.ts";
import type { KeptState } from "../state/kept-state.ts";
import { writableAbove } from "./parents.ts";
import { isPattern, matchedFolder } from "./path-patterns.ts";
import { projectsOf } from "./projects.ts";

/** A folder of the shared volume that a run's pod is to have. */
export interface WantedFolder {
  readonly path: string;
  readonly readOnly: boolean;
  /** `made`: by the server, writable for the pod. `there`: the server has just written it or looked at it. `if there`: mounted if it exists. `named`: the same, with a warning if it does not. */
  readonly need: "made" | "there" | "if there" | "named";
}

/** What decides which folders a run's pod has. */
export interface ScopeInput extends Pick<RunParts, "ctx" | "config" | "policy"> {
  readonly cwd: string;
  readonly bundle: PromptBundle | null;
  readonly state: KeptState;
  readonly seeds: Pick<Seeds, "mounts">;
}

/** The folders of a run, without the one for its output, which each attempt has for itself. */
export function wantedFolders(input: ScopeInput): WantedFolder[] {
  const { ctx, config, bundle, state } = input;
  return [
    { path: agentHome(ctx, config), readOnly: false, need: "made" },
    ...projectFolders(input),
    ...(state.mode === "portable" ? [{ path: state.spec.saved, readOnly: false, need: "made" } as const] : []),
    { path: instructionsFolder(ctx, config), readOnly: true, need: "if there" },
    ...(bundle === null ? skillFolders(input) : bundleFolder(bundle)),
    ...input.seeds.mounts.map((mount) => ({ ...mount, need: "there" }) as const),
    ...policyFolders(input),
  ];
}

const bundleFolder = ({ folder }: PromptBundle): WantedFolder[] =>
  folder === null ? [] : [{ path: folder, readOnly: true, need: "there" }];

/** Where skills are part of the prompt, it names the folders in which their files are. */
function skillFolders({ ctx, config }: ScopeInput): WantedFolder[] {
  return [companySkills(ctx, config), config.skillsFolder].map((path) => ({ path, readOnly: true, need: "if there" }));
}

/**
 * The host's checkouts of the project that the run belongs to, with the main repository of a worktree, and those of other projects that
 * the host names, to be read. A folder of any other project is not the run's, whoever has written it into its workspace.
 */
function projectFolders(input: ScopeInput): WantedFolder[] {
  const { own, others } = projectsOf(input);
  const isOwn = own !== null && (isWorktree(input.ctx) || namedPaths(input).some((path) => isBelow(path, own)));
  return [
    ...(isOwn ? [{ path: own, readOnly: false, need: "made" } as const] : []),
    ...(input.config.filesystemScope === "workspace" ? [] : others).map((path) => ({ path, readOnly: true, need: "if there" }) as const),
  ];
}

export const isWorktree = ({ context }: ScopeInput["ctx"]): boolean =>
  textOf(recordOf(context.paperclipWorkspace).strategy) === "git_worktree";

/** The operator's own: a plain path is mounted by every pod, one with `*` where the run names a folder in it. */
function policyFolders(input: ScopeInput): WantedFolder[] {
  if (input.config.filesystemScope === "workspace") return extraFolders(input);
  const named = namedPaths(input);
  return input.policy.volume.paths.flatMap(({ path, readOnly }): WantedFolder[] => {
    if (!isPattern(path)) return [{ path: withoutTrailing(normalize(path), "/", 1), readOnly, need: "named" }];
    const matched = named.map((each) => matchedFolder(path, each)).filter((each) => each !== null);
    return [...new Set(matched)].map((each) => ({ path: each, readOnly, need: "if there" }));
  });
}

/** Of an agent that is confined to its workspace: that, and the folders that it names besides, writable only where both say so. */
function extraFolders({ cwd, config, policy }: ScopeInput): WantedFolder[] {
  const extra = config.filesystemExtraPaths.filter(({ path }) => writableAbove(path, policy.volume, config) === null);
  return [{ path: normalize(cwd), access: "rw" }, ...extra].flatMap(({ path, access }): WantedFolder[] => {
    const allowed = policy.volume.paths.filter((each) => matchedFolder(each.path, path) !== null);
    if (allowed.length === 0) return [];
    return [{ path, readOnly: access === "ro" || allowed.every((each) => each.readOnly), need: "if there" }];
  });
}

/** Every folder that the run's workspace and settings name. Whether it may have one is decided by where that is. */
function namedPaths(input: ScopeInput): string[] {
  const { context } = input.ctx;
  const hints = recordsOf(context.paperclipWorkspaces).map((hint) => textOf(hint.cwd));
  const found = [input.cwd, textOf(recordOf(context.paperclipWorkspace).worktreePath), ...hints];
  const paths = found.flatMap((path) => (path?.startsWith("/") ? [normalize(path)] : []));
  return [...paths, ...namedSettings(input).map(({ path }) => path)];
}

/** Files and folders in the agent's settings, with the setting's name. */
export function namedSettings({ config, cwd }: ScopeInput): { readonly field: string; readonly path: string }[] {
  const { instructionsFilePath: instructions, command, extraArgs, env } = config;
  const named: [string, string | null][] = [
    ["command", command],
    ["instructionsFilePath", instructions === null ? null : resolve(cwd, instructions)],
    ...extraArgs.map((value): [string, string] => ["extraArgs", value.replace(/^--?[\w-]+=/, "")]),
    ...Object.entries(env).map(([name, value]): [string, string] => [`env.${name}`, value]),
  ];
  // A list like PATH is no path.
  return named.flatMap(([field, path]) => (path?.startsWith("/") && !path.includes(":") ? [{ field, path: normalize(path) }] : []));
}
