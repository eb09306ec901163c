import { type Context, isBelow, recordOf, recordsOf, textOf } from "../../host/context-values.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";

type Part = "cwd" | "source" | "strategy" | "id" | "repoUrl" | "repoRef" | "branch" | "worktreePath" | "agentHome";

/** The workspace the host made for a run, on the volume that server and pod share; no `cwd` if the agent's setting replaces it. */
export type Workspace = Readonly<Record<Part, string | null>>;

/** As the host's own adapters read it: an agent's folder setting wins over its home, not over a project's workspace. */
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

/** Where the CLI runs: the workspace, else the agent's folder setting, else the shared volume. */
export function workingFolder(context: Context, settings: Pick<AgentConfig, "cwd" | "dataPath">): string {
  return workspaceOf(context, settings.cwd).cwd ?? settings.cwd ?? settings.dataPath;
}

/** The host's hints at other workspaces; a folder that is not on the shared volume is not there in a pod. */
export function workspaceHints(context: Context, dataPath: string): Record<string, unknown>[] {
  return recordsOf(context.paperclipWorkspaces).map((hint) => {
    const { cwd, ...rest } = hint;
    const folder = textOf(cwd);
    return folder !== null && isBelow(folder, dataPath) ? { ...hint } : rest;
  });
}
