import { dirname, join } from "node:path/posix";
import { isBelow } from "../../host/context-values.ts";
import { agentHome, agentsOwnFolder, companySkills, instancesFolder } from "../../host/paths.ts";
import type { ExecutionContext } from "../../host/types.ts";
import { allowsBelow } from "../../policy/patterns.ts";
import type { Policy } from "../../policy/policy.ts";
import { packageFolders, serverProgram } from "../../policy/policy-file.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import { workspaceOf } from "../environment/workspace.ts";
import { projectsOf } from "../scope/projects.ts";

/** The folders in one of which a path has to end once its links are followed; null = nothing is read from this path. */
export type FilePlaces = (path: string) => readonly string[] | null;

type RunContext = Pick<ExecutionContext, "agent" | "context">;
type Places = Pick<AgentConfig, "dataPath" | "instanceId" | "skillsFolder">;

/** Where a run's instructions and skills may come from: what the host keeps for this agent, its company's skills, the run's projects, and what the policy names. */
export function filePlaces(ctx: RunContext, config: Places, policy: Policy, cwd: string): FilePlaces {
  const { own, others } = projectsOf({ ctx, config, cwd });
  const ofAgent = [agentsOwnFolder(ctx, config), companySkills(ctx, config), agentHome(ctx, config)];
  const folders = [
    ...ofAgent,
    ...(own === null ? [] : [own]),
    ...others,
    ...workspaces(ctx, config, policy),
    ...sharedSkills(config, policy),
  ];
  return places(folders, policy);
}

/** Where the skills lie that the host lists, without an agent. */
export function skillPlaces(config: Pick<Places, "skillsFolder">, policy: Policy): FilePlaces {
  return places(sharedSkills(config, policy), policy);
}

function places(folders: readonly string[], { allow, volume }: Policy): FilePlaces {
  // The folders in volume.paths are in the pods anyway, so instructions and skills may come from there too.
  const patterns = [...volume.paths.map(({ path }) => path), ...allow.files];
  const ofPolicy = patterns.filter((pattern) => !pattern.startsWith("!")).map(folderOf);
  const ofHost = hostSkills();
  return (path) => {
    if (folders.some((folder) => isBelow(path, folder)) || allowsBelow(patterns, path)) return [...folders, ...ofPolicy];
    const bundled = ofHost.find((folder) => isBelow(path, folder));
    return bundled === undefined ? null : [bundled];
  };
}

/** The folder in which everything lies that a pattern matches. */
const folderOf = (pattern: string): string => (pattern.includes("*") ? dirname(`${pattern.split("*")[0]}x`) : pattern);

/** Where pods mount the whole volume, files may also come from this run's workspace, unless that is a folder above all agents' files. */
function workspaces({ context }: Pick<ExecutionContext, "context">, { dataPath }: Places, { volume }: Policy): readonly string[] {
  if (volume.mount !== "whole") return [];
  const { cwd, worktreePath } = workspaceOf(context, null);
  const all = instancesFolder(dataPath);
  const isOwn = (path: string): boolean => isBelow(path, dataPath) && !isBelow(all, path) && !isBelow(path, all);
  return [cwd, worktreePath].filter((path) => path !== null).filter(isOwn);
}

/** People's own skills on the volume; not where pods mount the whole volume, because then agents can write there. */
const sharedSkills = ({ skillsFolder }: Pick<Places, "skillsFolder">, { volume }: Policy): readonly string[] =>
  volume.mount === "scoped" ? [skillsFolder] : [];

/** Skills that come with the host: beside its program, where it was started, or in its package, as npm installs it. No agent names these. */
function hostSkills(): readonly string[] {
  const program = dirname(serverProgram());
  const beside = [program, dirname(program), dirname(dirname(program)), process.cwd()];
  return [...beside, ...packageFolders("@paperclipai/server")].map((folder) => join(folder, "skills"));
}
