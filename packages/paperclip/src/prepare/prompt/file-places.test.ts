import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parsePolicy } from "../../policy/parse-policy.ts";
import { DEFAULT_POLICY, type Policy } from "../../policy/policy.ts";
import { hostContext } from "../../testing/host-context.ts";
import { readSkills } from "../skills/read-skills.ts";
import { filePlaces } from "./file-places.ts";
import { readInstructions } from "./instructions.ts";
import { ServerFiles } from "./server-files.ts";

let data: string;
const INSTANCE = "instances/default";
beforeAll(() => {
  data = realpathSync(mkdtempSync(join(tmpdir(), "file-places-")));
});
const program = process.argv[1]!;
afterEach(() => {
  process.argv[1] = program;
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

function put(path: string, text = `text of ${path}`): string {
  const file = join(data, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const workspace = (cwd: string) => ({ paperclipWorkspace: { cwd: join(data, cwd), source: "project_primary" } });

/** The text that is read, or why it is not. */
async function read(
  path: string,
  { policy = DEFAULT_POLICY as Policy, context = {}, cwd = data, mount = data, dataPath = data } = {},
): Promise<string> {
  const { ctx } = hostContext({ agent: "agent-1", company: "company-1", context });
  const config = { dataPath, instanceId: "default", skillsFolder: join(data, ".example/skills") };
  const files = new ServerFiles([dataPath, mount], filePlaces(ctx, config, policy, cwd));
  try {
    const { text, warnings } = await readInstructions(path, cwd, files, policy);
    return text === "" ? `warning: ${warnings.join()}` : text.split("\n")[0]!;
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

test.each([
  `${INSTANCE}/companies/company-1/agents/agent-1/instructions/AGENTS.md`,
  `${INSTANCE}/companies/company-1/agents/agent-1/external/bundle/AGENTS.md`,
  `${INSTANCE}/skills/company-1/fix/SKILL.md`,
  `${INSTANCE}/workspaces/agent-1/AGENTS.md`,
  ".example/skills/own/SKILL.md",
])("read: %s", async (path) => {
  expect(await read(put(path))).toBe(`text of ${path}`);
});

test.each([
  `${INSTANCE}/companies/company-2/agents/agent-1/instructions/AGENTS.md`,
  `${INSTANCE}/companies/company-1/agents/agent-2/instructions/AGENTS.md`,
  `${INSTANCE}/companies/company-1/agents/agent-10/instructions/AGENTS.md`,
  `${INSTANCE}/projects/company-1/project-1/repo/AGENTS.md`,
  `${INSTANCE}/companies/company-1/codex-home/auth.json`,
  `${INSTANCE}/skills/company-2/fix/SKILL.md`,
  `${INSTANCE}/workspaces/agent-2/AGENTS.md`,
  `${INSTANCE}/config.json`,
  `${INSTANCE}/secrets/master.key`,
  `${INSTANCE}/db/pg_hba.conf`,
  `${INSTANCE}/data/run-logs/company-1/agent-2/run.ndjson`,
  ".ssh/id_ed25519",
])("refused: %s", async (path) => {
  const file = put(path);
  expect(await read(file)).toMatch(/^refused: instructionsFilePath: .* is not allowed by the operator's policy/);
  // Not by a detour of text either.
  expect(await read(`${data}/${INSTANCE}/workspaces/agent-1/../../../../${path}`)).toMatch(/^refused: /);
});

test.each(["/proc/self/environ", "/etc/passwd", "/var/run/secrets/kubernetes.io/serviceaccount/token"])(
  "the server's own: %s",
  async (path) => {
    expect(await read(path)).toContain(
      `To allow it, in the file that the server's PAPERCLIP_K8S_POLICY names: allow: { files: ["${path}"] }`,
    );
  },
);

test("a skill from elsewhere is left out, and the reason is given", async () => {
  const { ctx } = hostContext({ agent: "agent-1", company: "company-1" });
  const config = { dataPath: data, instanceId: "default", skillsFolder: join(data, ".example/skills") };
  const files = new ServerFiles([data], filePlaces(ctx, config, DEFAULT_POLICY, data));
  const paperclipRuntimeSkills = [{ key: "acme/secrets", runtimeName: "secrets", source: "/etc/passwd" }];
  const { text, warnings } = await readSkills(
    { paperclipRuntimeSkills, paperclipSkillSync: { desiredSkills: ["secrets"] } },
    config,
    files,
  );
  expect(text).toBe("");
  expect(warnings).toEqual([
    expect.stringMatching(/^skill "acme\/secrets" is left out: .*others need allow\.files in the operator's policy/),
  ]);
});

test("a relative path is the one it becomes", async () => {
  expect(await read("environ", { cwd: "/proc/self" })).toMatch(/^refused: /);
});

test("a link in an agent's own folder brings no other's file", async () => {
  put(`${INSTANCE}/workspaces/agent-2/private.md`);
  symlinkSync("../agent-2/private.md", join(data, INSTANCE, "workspaces/agent-1/link.md"));
  symlinkSync("/proc/self/environ", join(data, INSTANCE, "workspaces/agent-1/environ"));
  for (const name of ["link.md", "environ"])
    expect(await read(join(data, INSTANCE, "workspaces/agent-1", name))).toMatch(/^warning: .*was not read \(.*leads out of/);
});

test("a workspace elsewhere on the volume, if the policy gives it to pods, unless it holds everybody's files", async () => {
  const file = put("repos/acme/AGENTS.md");
  const context = workspace("repos/acme");
  expect(await read(file, { context })).toMatch(/^refused/);
  const { policy: mounted } = parsePolicy({ volume: { paths: [`${data}/repos/*`] } }, "/p");
  expect(await read(file, { context, policy: mounted })).toBe("text of repos/acme/AGENTS.md");
  const { policy: whole } = parsePolicy({ volume: { mount: "whole" } }, "/p");
  expect(await read(file, { context, policy: whole })).toBe("text of repos/acme/AGENTS.md");
  for (const cwd of ["", "instances", INSTANCE, `${INSTANCE}/secrets`])
    expect(await read(put(`${INSTANCE}/secrets/key`), { context: workspace(cwd), policy: whole }), cwd).toMatch(/^refused/);
});

test("what the policy names, with its exceptions", async () => {
  const { policy } = parsePolicy({ allow: { files: [`${data}/prompts`, `!${data}/prompts/private`] } }, "/p");
  expect(await read(put("prompts/team/AGENTS.md"), { policy })).toBe("text of prompts/team/AGENTS.md");
  expect(await read(put("prompts/private/AGENTS.md"), { policy })).toMatch(/^refused/);
});

test("people's own skills are taken only while no pod can write there", async () => {
  const { policy } = parsePolicy({ volume: { mount: "whole" } }, "/p");
  expect(await read(put(".example/skills/own/SKILL.md"), { policy })).toMatch(/^refused/);
});

test("the run's own project, those that the host names for it, and no other", async () => {
  const file = (project: string) => put(`${INSTANCE}/projects/company-1/${project}/repo/AGENTS.md`);
  const repo = (project: string) => join(data, INSTANCE, "projects/company-1", project, "repo");
  const context = { projectId: "project-1", paperclipWorkspaces: [{ projectId: "project-2", cwd: repo("project-2") }] };
  for (const project of ["project-1", "project-2"]) expect(await read(file(project), { context }), project).toMatch(/^text of/);
  expect(await read(file("project-3"), { context })).toMatch(/^refused/);
  const session = { paperclipWorkspace: { source: "task_session", cwd: repo("project-3") } };
  expect(await read(file("project-3"), { context: session, cwd: repo("project-3") })).toMatch(/^text of/);
});

test("the skills in the package of the host that runs, and in no folder that is only named so", async () => {
  const host = realpathSync(mkdtempSync(join(tmpdir(), "host-package-")));
  try {
    const server = join(host, "store/node_modules/@paperclipai/server");
    mkdirSync(join(server, "skills/paperclip"), { recursive: true });
    mkdirSync(join(host, "app/node_modules/@paperclipai"), { recursive: true });
    mkdirSync(join(host, "app/node_modules/paperclipai/dist"), { recursive: true });
    symlinkSync(server, join(host, "app/node_modules/@paperclipai/server"));
    for (const path of ["skills/paperclip/SKILL.md", "package.json"]) writeFileSync(join(server, path), "the host's");
    writeFileSync(join(host, "app/node_modules/paperclipai/dist/index.js"), "");
    symlinkSync("app/node_modules/paperclipai/dist/index.js", join(host, "paperclipai"));
    expect(await read(join(server, "skills/paperclip/SKILL.md"))).toMatch(/^refused/);
    process.argv[1] = join(host, "paperclipai");
    expect(await read(join(server, "skills/paperclip/SKILL.md"))).toBe("the host's");
    expect(await read(join(server, "package.json"))).toMatch(/^refused/);
  } finally {
    rmSync(host, { recursive: true, force: true });
  }
  const named = "node_modules/@paperclipai/server/skills/x";
  const workspace = `${data}/${INSTANCE}/workspaces/agent-1`;
  mkdirSync(dirname(join(workspace, named)), { recursive: true });
  symlinkSync("/proc/self/environ", join(workspace, named));
  expect(await read(`/proc/self/root${workspace}/${named}`)).toMatch(/^refused/);
  expect(await read(`${workspace}/${named}`)).toMatch(/^warning: .*leads out of/);
  const { policy } = parsePolicy({ allow: { files: ["/**"] } }, "/p");
  expect(await read(`/proc/self/root${workspace}/${named}`, { policy })).toMatch(/^warning: .*no file on a disk/);
  put(`${INSTANCE}/workspaces/agent-1/plain.md`);
  expect(await read(`/proc/self/root${workspace}/plain.md`, { policy })).toMatch(/^warning: .*where pods write/);
});

test("a folder of the policy elsewhere opens nothing on the volume", async () => {
  const { policy } = parsePolicy({ allow: { files: ["/srv/prompts", "/*/prompts"] } }, "/p");
  const key = put(`${INSTANCE}/secrets/master.key`);
  put(`${INSTANCE}/workspaces/agent-1/x`);
  symlinkSync(key, join(data, INSTANCE, "workspaces/agent-1/key.md"));
  expect(await read(join(data, INSTANCE, "workspaces/agent-1/key.md"), { policy })).toMatch(/^warning: .*was not read/);
  const { policy: plain } = parsePolicy({ allow: { files: ["/srv/prompts"] } }, "/p");
  expect(await read(join(data, INSTANCE, "workspaces/agent-1/key.md"), { policy: plain })).toMatch(/leads out of the folders/);
});

test("what the policy takes out of a folder is not read through a link either, nor as part of a tree", async () => {
  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "prompts-")));
  try {
    mkdirSync(join(elsewhere, "private"));
    for (const path of ["private/a.md", "plain.md"]) writeFileSync(join(elsewhere, path), `text of ${path}`);
    symlinkSync("private/a.md", join(elsewhere, "link.md"));
    const { policy } = parsePolicy({ allow: { files: [elsewhere, `!${elsewhere}/private`] } }, "/p");
    expect(await read(join(elsewhere, "plain.md"), { policy })).toBe("text of plain.md");
    expect(await read(join(elsewhere, "link.md"), { policy })).toMatch(/^warning: .*a link leads to .*private\/a\.md/);
    const { ctx } = hostContext({ agent: "agent-1", company: "company-1" });
    const config = { dataPath: data, instanceId: "default", skillsFolder: join(data, ".example/skills") };
    const tree = await new ServerFiles([data], filePlaces(ctx, config, policy, data)).readTree(elsewhere);
    expect(tree.map(({ path }) => path)).toEqual(["plain.md"]);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
});

test("the whole claim is the pods', also above the data path", async () => {
  const dataPath = join(data, "paperclip");
  const outside = put("beside/theirs.md");
  const { policy } = parsePolicy({ allow: { files: [`${data}/open`] } }, "/p");
  put("open/x");
  symlinkSync(outside, join(data, "open/link.md"));
  expect(await read(join(data, "open/link.md"), { policy, dataPath })).toMatch(/^warning: .*a link leads out of the folders/);
  const { policy: wide } = parsePolicy({ allow: { files: [`${data}/open`, "/etc/hostname"] } }, "/p");
  symlinkSync("/etc/hostname", join(data, "open/host.md"));
  expect(await read(join(data, "open/host.md"), { policy: wide, dataPath })).toMatch(/^warning: .*it leads out of/);
});
