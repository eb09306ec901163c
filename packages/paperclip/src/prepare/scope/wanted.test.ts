import { expect, test } from "vitest";
import { EMPTY_TEMPLATE } from "../../policy/pod-template.ts";
import { scopeOf } from "./scope.ts";
import { exampleScope, INSTANCE, mountsOf } from "./testing/example-scope.ts";

const OUTPUT = `${INSTANCE}/data/run-logs/company-1/agent-1/run-1.pod`;
const HOME = `${INSTANCE}/workspaces/agent-1`;
const PROJECT = `${INSTANCE}/projects/company-1/project-1`;
const STATE = `${INSTANCE}/data/agent-state/company-1/agent-1/agent/task-1`;
const INSTRUCTIONS = `ro ${INSTANCE}/companies/company-1/agents/agent-1/instructions`;
const SKILLS = [`ro ${INSTANCE}/skills/company-1`, "ro /paperclip/.example/skills"];
const bundle = { folder: `${INSTANCE}/data/prompt-bundles/company-1/0123` } as never;

const project = (cwd: string, more: Record<string, unknown> = {}) => ({
  context: { paperclipWorkspace: { cwd, source: "project_primary", projectId: "project-1", agentHome: HOME, ...more } },
});

test("an agent without a workspace: its own folder, where it also begins", () => {
  expect(mountsOf()).toEqual([OUTPUT, HOME, STATE, INSTRUCTIONS, ...SKILLS]);
  expect(exampleScope().input.cwd).toBe(HOME);
});

test("what is not there is left out; what the pod writes to is made", () => {
  const { mounts, made, warnings } = exampleScope({ isThere: () => false });
  expect([mounts, made, warnings]).toEqual([[HOME, STATE].map((path) => ({ path, readOnly: false })), [HOME, STATE], []]);
});

test("a bundle instead of skills, read-only", () => {
  expect(mountsOf({ bundle })).toEqual([OUTPUT, HOME, STATE, INSTRUCTIONS, `ro ${INSTANCE}/data/prompt-bundles/company-1/0123`]);
});

test("a project's workspace: the project's folder, however deep the run begins in it", () => {
  expect(mountsOf({ bundle: null, ...project(`${PROJECT}/_default/deep/er`) })).toEqual([
    OUTPUT,
    HOME,
    PROJECT,
    STATE,
    INSTRUCTIONS,
    ...SKILLS,
  ]);
});

test("a worktree outside of the project's folder needs the main repository too", () => {
  const worktree = "/paperclip/worktrees/fix";
  const run = project(worktree, { strategy: "git_worktree", worktreePath: worktree });
  const volume = { paths: [{ path: "/paperclip/worktrees/*", readOnly: false }] };
  expect(mountsOf({ ...run, volume })).toEqual([OUTPUT, HOME, PROJECT, STATE, INSTRUCTIONS, ...SKILLS, worktree]);
});

test("other projects that the host names can be read; the folder of one that it does not name cannot", () => {
  const hint = (id: string) => ({ projectId: id, cwd: `${INSTANCE}/projects/company-1/${id}/repo` });
  const paperclipWorkspaces = [hint("project-1"), hint("project-2"), { cwd: `${INSTANCE}/projects/company-1/project-3/repo` }];
  const context = { ...project(`${PROJECT}/repo`).context, paperclipWorkspaces };
  expect(mountsOf({ context })).toEqual([
    OUTPUT,
    HOME,
    PROJECT,
    `ro ${INSTANCE}/projects/company-1/project-2`,
    STATE,
    INSTRUCTIONS,
    ...SKILLS,
  ]);
});

test("a session goes on in its project's folder after the issue has left the project", () => {
  const session = (company: string) => ({
    context: { paperclipWorkspace: { cwd: `${INSTANCE}/projects/${company}/project-7/repo`, source: "task_session" } },
  });
  expect(mountsOf(session("company-1"))).toContain(`${INSTANCE}/projects/company-1/project-7`);
  expect(() => mountsOf(session("company-2"))).toThrow(/^workspace: /);
});

test.each([
  ["another project", `${INSTANCE}/projects/company-1/project-2/repo`],
  ["another company", `${INSTANCE}/projects/company-2/project-1/repo`],
  ["another agent", `${INSTANCE}/workspaces/agent-2`],
  ["all agents", `${INSTANCE}/workspaces`],
  ["the host's database", `${INSTANCE}/db`],
  ["the instance", INSTANCE],
  ["the volume", "/paperclip"],
  ["the way out", `${HOME}/../agent-2`],
  ["a folder of people's choice", "/paperclip/repos/acme"],
  ["plugins of the host", "/paperclip/adapter-plugins"],
  ["files of another run", `${INSTANCE}/data/run-logs/company-1/agent-1/run-2.pod`],
])("%s is refused as a workspace and as a setting, with the policy's line", (_, cwd) => {
  expect(() => exampleScope(project(cwd))).toThrow(/^workspace: .* is not among .*volume: \{ paths: \[\{ path: "\/paperclip/);
  expect(() => exampleScope({ config: { cwd } })).toThrow(/^cwd: /);
});

test("the operator's paths: plain ones for every pod, others where the run names a folder in them", () => {
  const volume = {
    paths: [
      { path: "/paperclip/tools/", readOnly: true },
      { path: "/paperclip/repos/*", readOnly: false },
    ],
  };
  const others = [OUTPUT, HOME, STATE, INSTRUCTIONS, ...SKILLS, "ro /paperclip/tools"];
  expect(mountsOf({ volume })).toEqual(others);
  expect(mountsOf({ volume, config: { cwd: "/paperclip/repos/acme/src" } })).toEqual([...others, "/paperclip/repos/acme"]);
  expect(mountsOf({ volume, ...project("/paperclip/repos/acme") })).toEqual([...others, "/paperclip/repos/acme"]);
  expect(() => mountsOf({ volume, config: { cwd: "/paperclip/repos" } })).toThrow(/^cwd: /);
});

test("an agent confined to its workspace: its own and its project's folder, and of the operator's paths what it names", () => {
  const volume = {
    paths: [
      { path: "/paperclip/docs", readOnly: true },
      { path: "/paperclip/repos/*", readOnly: false },
    ],
  };
  const scoped = (config: Record<string, unknown> = {}, run = {}) =>
    exampleScope({ volume, ...run, config: { filesystemScope: "workspace", ...config } });
  const mounted = (...args: Parameters<typeof scoped>) =>
    scoped(...args).mounts?.map(({ path, readOnly }) => `${readOnly ? "ro " : ""}${path}`);
  const own = [HOME, STATE, INSTRUCTIONS, ...SKILLS];
  expect(mounted()).toEqual(own);
  // To be read only, unless it says otherwise and the policy lets it; a folder in an allowed one too.
  const filesystemExtraPaths = ["/paperclip/docs/api/", { path: "/paperclip/repos/acme", access: "rw" }, "/paperclip/repos/other"];
  expect(mounted({ filesystemExtraPaths })).toEqual([
    ...own,
    "ro /paperclip/docs/api",
    "/paperclip/repos/acme",
    "ro /paperclip/repos/other",
  ]);
  expect(mounted({ filesystemExtraPaths: [{ path: "/paperclip/docs", access: "rw" }] })).toEqual([...own, "ro /paperclip/docs"]);
  expect(scoped({ filesystemExtraPaths: ["/paperclip/else"] }).warnings).toEqual([
    expect.stringContaining("/paperclip/else is not in the pod"),
  ]);
  // Below a folder that agents can write to, one of them could put a link in its place.
  const below = { filesystemExtraPaths: ["/paperclip/repos/acme/docs"] };
  expect(mounted(below)).toEqual(own);
  expect(scoped(below).warnings).toEqual([expect.stringContaining("/paperclip/repos/acme/docs is not in the pod")]);
  expect(mounted({}, project(`${PROJECT}/repo`))).toEqual([HOME, PROJECT, ...own.slice(1)]);
  expect(mounted({ cwd: "/paperclip/repos/acme" })).toEqual([...own, "/paperclip/repos/acme"]);
});

test.each([
  ["a worktree beside others", `${PROJECT}/repo/.paperclip/worktrees/ISSUE-1`, {}],
  ["a part of a checkout", `${PROJECT}/repo/packages`, {}],
  ["a worktree elsewhere, which needs its repository", "/paperclip/worktrees/fix", { strategy: "git_worktree" }],
])("a confined agent's workspace that a pod cannot have alone is refused: %s", (_, cwd, more) => {
  const volume = { paths: [{ path: "/paperclip/worktrees/*", readOnly: false }] };
  const run = { ...project(cwd, more), volume };
  expect(() => exampleScope({ ...run, config: { filesystemScope: "workspace" } })).toThrow(
    /^filesystemScope: cannot be kept: beside the workspace/,
  );
  expect(() => exampleScope(run)).not.toThrow();
});

test("a workspace that is not on the volume is refused, unless the operator's pod template brings it", () => {
  const run = project("/srv/repos/site");
  expect(() => exampleScope(run)).toThrow(/^workspace: \/srv\/repos\/site is not on the shared volume at \/paperclip/);
  const { input } = exampleScope({ config: { podTemplate: "repos" } });
  const template = { ...EMPTY_TEMPLATE, agent: { volumeMounts: [{ mountPath: "/srv/repos", name: "repos" }], env: [] } };
  const policy = { ...input.policy, podTemplates: { repos: template as never } };
  const { ctx, cwd } = { ctx: { ...input.ctx, context: run.context as never }, cwd: "/srv/repos/site" };
  expect(() => scopeOf({ ...input, ctx, cwd, policy }, [], [], "/paperclip")).not.toThrow();
});

test("a path of the policy that is not there, and settings that name what the pod does not have, are warned of", () => {
  const volume = { paths: [{ path: "/paperclip/tools", readOnly: true }] };
  const config = { command: "/paperclip/tools/cli", env: { OTHER: "/paperclip/other", OWN: `${HOME}/x`, BIN: "/usr/bin" } };
  expect(exampleScope({ volume, config }).warnings).toEqual([expect.stringContaining("env.OTHER names /paperclip/other")]);
  const { warnings } = exampleScope({ volume, config, isThere: ({ need }) => need !== "named" });
  expect(warnings.map((text) => text.split(" ")[0])).toEqual(["/paperclip/tools,", "command", "env.OTHER"]);
  const named = { extraArgs: ["--mcp-config=/paperclip/mcp.json", "--x"], instructionsFilePath: "/paperclip/AGENTS.md" };
  const more = exampleScope({ config: named }).warnings;
  expect(more.map((text) => text.split(" ")[0])).toEqual(["instructionsFilePath", "extraArgs"]);
});

test("a session that is kept elsewhere needs no folder", () => {
  expect(mountsOf({ config: { agentDbMode: "ephemeral" } })).toEqual([OUTPUT, HOME, INSTRUCTIONS, ...SKILLS]);
});
