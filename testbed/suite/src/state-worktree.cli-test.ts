import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";
import { onKube } from "./bed.ts";

// A workspace as the host makes it, a git worktree on the shared volume: the agent commits, and the host finds what it expects.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

/** As the server's user: where pods have users at all, a server that is not root shares its own with them. */
function git(folder: string, ...args: string[]): string {
  const user = onKube ? { uid: 1000, gid: 1000 } : {};
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
  const who = ["-c", "user.name=Server", "-c", "user.email=server@example.com"];
  return execFileSync("git", [...who, "-C", folder, ...args], { ...user, env, encoding: "utf8" }).trim();
}

test("two tasks commit to their own worktrees of one repository at the same time; branches, index and repository stay sound", async () => {
  const { data } = stage.bed;
  const project = join(data, "instances/default/projects/company-1/project-1");
  await mkdir(project, { recursive: true });
  await chmod(project, 0o777);
  git(project, "init", "--initial-branch", "main", "repo");
  const repo = join(project, "repo");
  git(repo, "config", "user.name", "Agent");
  git(repo, "config", "user.email", "agent@example.com");
  git(repo, "commit", "--allow-empty", "-m", "first");
  const worktree = (task: string) => join(repo, ".paperclip/worktrees", task);
  const agent = randomUUID();
  const work = async (task: string) => {
    const cwd = worktree(task);
    git(repo, "worktree", "add", "-b", `work/${task}`, cwd);
    const branchName = `work/${task}`;
    const place = { cwd, source: "project_primary", projectId: "project-1" };
    const paperclipWorkspace = { ...place, strategy: "git_worktree", branchName, worktreePath: cwd };
    const prompt = `bash:echo ${task} > ${task}.txt && git add . && git commit -q -m "by ${task}" && git status --short --branch`;
    return stage.run({ cli: "claude", agent, task, prompt, context: { paperclipWorkspace } });
  };
  const tasks = ["task-a", "task-b"];
  const turns = await Promise.all(tasks.map(work));
  for (const [index, { result, log }] of turns.entries()) {
    const task = tasks[index] ?? "";
    const cwd = worktree(task);
    expect(result, log).toMatchObject({ exitCode: 0, sessionParams: { cwd } });
    expect(log).toContain(`## work/${task}`);
    // What the host looks at after the run.
    expect(git(cwd, "rev-parse", "--abbrev-ref", "HEAD")).toBe(`work/${task}`);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(git(cwd, "log", "--format=%an %s", "main..")).toBe(`Agent by ${task}`);
  }
  expect(git(repo, "rev-parse", "--abbrev-ref", "HEAD")).toBe("main");
  expect(git(repo, "fsck")).toBe("");
  git(repo, "worktree", "remove", worktree("task-a"));
});
