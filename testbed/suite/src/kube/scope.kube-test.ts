import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CliName } from "../../../../packages/adapters.ts";
import { type Agents, openAgents } from "../agents.ts";
import { FOREIGN, INSTANCE, put, viewFrom } from "./scope-stage.ts";

// What a pod sees of the shared volume. Only a real cluster has mounts: processes of the embedded one see the whole disk.

let stage: Agents;
let data: string;
beforeAll(async () => {
  stage = await openAgents();
  data = stage.bed.data;
  await put(data, FOREIGN);
});
afterAll(() => stage?.stop());

interface Case {
  readonly cli?: CliName;
  readonly agent?: string;
  readonly context?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
  readonly policy?: string;
  /** Run before the look around. */
  readonly first?: string;
}

/** Every file and folder below the volume's path, as its pod finds them, `rw` or `ro` in front; the ids of the run as words. */
async function look({ cli = "opencode", agent = randomUUID(), context, config, policy, first = "true" }: Case) {
  const runId = randomUUID();
  const script = `${first}; find ${data} | while read -r path; do [ -w "$path" ] && echo "rw $path" || echo "ro $path"; done | sort -k2`;
  const printed = await viewFrom(stage, { cli, agent, runId, task: "task-1", context, config, policy, script });
  const named = printed.map((line) => line.replaceAll(data, "").replaceAll(agent, "<agent>").replaceAll(runId, "<run>"));
  const view = named.filter((line) => !/ .*\/\.git\//.test(line));
  console.log(`${expect.getState().currentTestName}\n${view.join("\n")}`);
  for (const path of FOREIGN) expect(view.join("\n")).not.toContain(`/${path}\n`);
  expect(view.filter((line) => /\/(db|secrets|config\.json|adapter-plugins|company-2|another-)/.test(line))).toEqual([]);
  // On the way to a mount there is nothing but folders of the container, which are nobody's to write to.
  for (const way of ["", `/${INSTANCE}`, `/${INSTANCE}/data`, `/${INSTANCE}/workspaces`]) expect(view).toContain(`ro ${way}`);
  return { view, printed };
}

const OUTPUT = `rw /${INSTANCE}/data/run-logs/company-1/<agent>/<run>.pod/output.ndjson`;
const HOME = `rw /${INSTANCE}/workspaces/<agent>`;

test("plain workspace: the agent's own folder", async () => {
  const agent = randomUUID();
  await put(data, [`${INSTANCE}/workspaces/${agent}/memory/2026.md`]);
  const { view } = await look({ agent, first: `touch ${data}/${INSTANCE}/workspaces/${agent}/made` });
  expect(view).toEqual(expect.arrayContaining([OUTPUT, HOME, `${HOME}/memory/2026.md`, `${HOME}/made`]));
  await readFile(join(data, INSTANCE, "workspaces", agent, "made"));
});

test("project workspace: the project's folder, not those of other projects", async () => {
  await put(data, [`${INSTANCE}/projects/company-1/project-1/_default/readme.md`]);
  const paperclipWorkspace = {
    cwd: join(data, INSTANCE, "projects/company-1/project-1/_default"),
    source: "project_primary",
    projectId: "project-1",
  };
  const { view } = await look({ context: { paperclipWorkspace } });
  expect(view).toEqual(expect.arrayContaining([OUTPUT, HOME, `rw /${INSTANCE}/projects/company-1/project-1/_default/readme.md`]));
});

test("git worktree: with its main repository, so that the agent can commit", async () => {
  const project = join(data, INSTANCE, "projects/company-1/project-2");
  await mkdir(project, { recursive: true });
  for (const folder of [join(project, ".."), project]) await chmod(folder, 0o777);
  const git = (folder: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Server", "-c", "user.email=server@example.com", "-C", folder, ...args], {
      uid: 1000,
      gid: 1000,
      env: { PATH: process.env.PATH, HOME: "/nonexistent" },
      encoding: "utf8",
    }).trim();
  git(project, "init", "--quiet", "--initial-branch", "main", "repo");
  const repo = join(project, "repo");
  git(repo, "commit", "--quiet", "--allow-empty", "-m", "first");
  const cwd = join(repo, ".paperclip/worktrees/fix");
  git(repo, "worktree", "add", "--quiet", "-b", "fix", cwd);
  const paperclipWorkspace = { cwd, source: "project_primary", projectId: "project-2", strategy: "git_worktree", worktreePath: cwd };
  const commit = `echo done > done.txt && git add . && git -c user.name=A -c user.email=a@example.com commit -q -m work && git status -sb`;
  const { view, printed } = await look({ context: { paperclipWorkspace }, first: commit });
  expect(printed).toContain("## fix");
  expect(view).toContain(`rw /${INSTANCE}/projects/company-1/project-2/repo/.paperclip/worktrees/fix/done.txt`);
  expect(git(repo, "log", "--format=%s", "fix")).toBe("work\nfirst");
});

test("instructions of the host with the files that belong to them: to be read", async () => {
  const agent = randomUUID();
  const folder = `${INSTANCE}/companies/company-1/agents/${agent}/instructions`;
  await put(data, [`${folder}/AGENTS.md`, `${folder}/SOUL.md`], "Be kind.\n");
  const config = { instructionsFilePath: join(data, folder, "AGENTS.md") };
  const { view } = await look({ agent, config, first: `cat ${data}/${folder}/SOUL.md; echo changed > ${data}/${folder}/SOUL.md` });
  expect(view).toContain(`ro /${INSTANCE}/companies/company-1/agents/<agent>/instructions/SOUL.md`);
  expect(await readFile(join(data, folder, "SOUL.md"), "utf8")).toBe("Be kind.\n");
});

test("a CLI with a bundle: instructions and skills of this run, to be read, and its saved session", async () => {
  const agent = randomUUID();
  const folder = `${INSTANCE}/companies/company-1/agents/${agent}/instructions`;
  await put(data, [`${folder}/AGENTS.md`], "Be kind.\n");
  const { view } = await look({ cli: "claude", agent, config: { instructionsFilePath: join(data, folder, "AGENTS.md") } });
  const bundles = view.filter((line) => line.includes("/prompt-bundles/company-1/"));
  expect(bundles.filter((line) => line.startsWith("rw "))).toEqual([]);
  expect(bundles.filter((line) => line.endsWith("/agent-instructions.md"))).toHaveLength(1);
  expect(view).toContain(`rw /${INSTANCE}/data/agent-state/company-1/<agent>/claude/task-1`);
});

test("saved sessions, portable: the folder of this task, not of the agent's others", async () => {
  const agent = randomUUID();
  await put(data, [`${INSTANCE}/data/agent-state/company-1/${agent}/opencode/task-2/current`]);
  const { view } = await look({ agent });
  expect(view).toContain(`rw /${INSTANCE}/data/agent-state/company-1/<agent>/opencode/task-1`);
  expect(view.join()).not.toContain("task-2");
});

test("saved sessions, on a claim of the agent's own: none on the shared volume", async () => {
  const agentDbStorageClass = await stage.bed.addStorageClass(1);
  const { view, printed } = await look({
    config: { agentDbMode: "dedicated_pvc", agentDbStorageClass },
    first: "touch /agent/state/kept && ls /agent/state",
  });
  expect(printed).toContain("kept");
  expect(view.join()).not.toContain("agent-state");
});

test("the operator's files for all homes: those that are seeds, to be read, and nothing beside them", async () => {
  const printed = await viewFrom(stage, {
    cli: "opencode",
    policy: `seeds: { folder: ${data} }`,
    script: `find ${data} -maxdepth 2; cat ~/.gitconfig ~/.ssh/id_ed25519; echo changed > ${data}/.gitconfig || echo refused`,
  });
  expect(printed.filter((line) => !line.includes("/instances") && !line.includes("/tools"))).toEqual(
    expect.arrayContaining([data, `${data}/.gitconfig`, `${data}/.ssh`, `${data}/.ssh/id_ed25519`, "x", "refused"]),
  );
  expect(printed.join()).not.toContain("adapter-plugins");
});

test("the operator's Secret for all homes: its keys are the files", async () => {
  const { namespace } = stage.bed;
  const { openCluster } = await import("@paperclip-k8s/kube");
  const cluster = openCluster();
  const stringData = { ".gitconfig": "[user]\n\tname = Operator\n", ".ssh__id_ed25519": "key\n" };
  await cluster.admin.request("POST", `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: "agent-seeds" }, stringData });
  cluster.close();
  const printed = await viewFrom(stage, {
    cli: "opencode",
    policy: "seeds: { secret: agent-seeds }",
    script: "git config user.name; cat ~/.ssh/id_ed25519; stat -c %a ~/.ssh/id_ed25519",
  });
  expect(printed).toEqual(["Operator", "key", "600"]);
});

test("a link in the place of a folder: refused by its name, and nothing is started", async () => {
  const agent = randomUUID();
  execFileSync("ln", ["-s", join(data, INSTANCE, "db"), join(data, INSTANCE, "workspaces", agent)]);
  const { result } = await stage.run({ cli: "opencode", agent, prompt: "never" });
  expect(result).toMatchObject({ exitCode: null, errorCode: "k8s_volume_unusable" });
  expect(result.errorMessage).toContain(`workspaces/${agent} is a link`);
  const jobs = (await stage.bed.list("jobs")).filter(({ metadata }) => JSON.stringify(metadata).includes(agent));
  expect(jobs).toEqual([]);
});
