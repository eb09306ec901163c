import { type Context, recordOf, recordsOf, textOf } from "../../host/context-values.ts";
import { agentHome } from "../../host/paths.ts";
import type { RunParts } from "../attempt.ts";

type Part = "cwd" | "source" | "strategy" | "id" | "repoUrl" | "repoRef" | "branch" | "worktreePath" | "agentHome";

/** The workspace the host made for a run, on the volume that server and pod share; no `cwd` if the agent's setting replaces it. */
export type Workspace = Readonly<Record<Part, string | null>>;

/**
 * As the host's own adapters read it: an agent's folder setting wins over its home, which is where the host puts an agent that has nothing
 * else, but not over a project's workspace.
 */
export function workspaceOf(context: Context, configuredCwd: string | null): Workspace {
  const raw = recordOf(context.paperclipWorkspace);
  const source = textOf(raw.source);
  const cwd = textOf(raw.cwd);
  return {
    cwd: (source === "agent_home" && configuredCwd !== null) || !cwd?.startsWith("/") ? null : cwd,
    source,
    strategy: textOf(raw.strategy),
    id: textOf(raw.workspaceId),
    repoUrl: textOf(raw.repoUrl),
    repoRef: textOf(raw.repoRef),
    branch: textOf(raw.branchName),
    worktreePath: textOf(raw.worktreePath),
    agentHome: textOf(raw.agentHome),
  };
}

/** Where the CLI runs: the workspace, else the agent's folder setting, else the agent's own folder. */
export function workingFolder({ ctx, config, policy }: Pick<RunParts, "ctx" | "config" | "policy">): string {
  // A pod with the whole volume goes on where earlier versions ran it, so that its sessions are found.
  const fallback = policy.volume.mount === "whole" ? config.dataPath : agentHome(ctx, config);
  return workspaceOf(ctx.context, config.cwd).cwd ?? config.cwd ?? fallback;
}

/** The host's hints at other workspaces, without the folders that the pod does not have. */
export function workspaceHints(context: Context, isMounted: (path: string) => boolean): Record<string, unknown>[] {
  return recordsOf(context.paperclipWorkspaces).map((hint) => {
    const { cwd, ...rest } = hint;
    const folder = textOf(cwd);
    return folder !== null && isMounted(folder) ? { ...hint } : rest;
  });
}
