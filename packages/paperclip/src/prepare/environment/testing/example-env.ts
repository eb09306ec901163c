import { buildEnv, type EnvInput, type PodEnv } from "../build-env.ts";

/** A comment started the agent on an issue of a project with a repository. */
export const wake = {
  reason: "issue_commented",
  issue: {
    id: "issue-1",
    identifier: "ACME-1",
    title: 'Fix the "gate"',
    description: "It squeaks.",
    status: "in_progress",
    workMode: "planning",
  },
  comments: [{ id: "comment-1", body: "Please $(hurry)", author: { type: "user", id: "user-1" } }],
};

export const context = {
  taskId: " task-1 ",
  issueId: "issue-1",
  wakeReason: "issue_commented",
  wakeCommentId: "comment-1",
  commentId: "comment-0",
  approvalId: "approval-1",
  approvalStatus: "approved",
  issueIds: ["issue-1", " ", 7, "issue-2"],
  paperclipWake: wake,
  paperclipWorkspace: {
    cwd: "/data/work/acme",
    source: "project_primary",
    strategy: "git_worktree",
    workspaceId: "workspace-1",
    repoUrl: "https://token@example.com/acme.git",
    repoRef: "main",
    branchName: "acme-1-fix-the-gate",
    worktreePath: "/data/work/acme/.worktrees/1",
    agentHome: "/data/home/agent-1",
  },
  paperclipWorkspaces: [
    { workspaceId: "workspace-1", cwd: "/data/work/acme" },
    { workspaceId: "workspace-2", cwd: "/srv/elsewhere" },
  ],
  paperclipRuntimeServiceIntents: [{ name: "web" }],
  paperclipRuntimeServices: [{ name: "web", url: "http://web:80" }],
  paperclipRuntimePrimaryUrl: "http://web:80/?key=1",
  paperclipRuntimeTools: { bearerToken: "runtime-tools-token-0123456789", mcpEndpoint: "http://host/mcp" },
};

export interface Changes {
  readonly context?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly serverEnv?: NodeJS.ProcessEnv;
  readonly authToken?: string;
  readonly inherited?: EnvInput["inherited"];
  readonly plan?: EnvInput["plan"];
  readonly forced?: Record<string, string>;
}

export function build(changes: Changes = {}): Promise<PodEnv> {
  const agent = { id: "agent-1", companyId: "company-1", name: "Ada" };
  return buildEnv({
    ctx: { runId: "run-1", agent, context: changes.context ?? context, authToken: changes.authToken ?? "run-token" },
    config: { env: changes.env ?? {}, cwd: changes.cwd ?? null, dataPath: "/data" },
    isMounted: (path) => path.startsWith("/data/"),
    homeInPod: (given) => (given.startsWith("/data/") ? given : "/data/own"),
    plan: changes.plan ?? { plainEnv: {}, secretEnv: {} },
    removed: ["MODEL_NESTED", "MODEL_SESSION"],
    serverEnv: { PAPERCLIP_API_URL: "http://paperclip:3100", ...changes.serverEnv },
    ...(changes.inherited === undefined ? {} : { inherited: changes.inherited }),
    ...(changes.forced === undefined ? {} : { forced: changes.forced }),
  });
}
