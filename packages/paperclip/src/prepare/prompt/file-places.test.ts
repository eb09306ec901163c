import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
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
afterAll(() => rmSync(data, { recursive: true, force: true }));

function put(path: string, text = `text of ${path}`): string {
  const file = join(data, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const workspace = (cwd: string) => ({ paperclipWorkspace: { cwd: join(data, cwd), source: "project_primary" } });

/** The text that is read, or why it is not. */
async function read(path: string, { policy = DEFAULT_POLICY as Policy, context = {}, cwd = data } = {}): Promise<string> {
  const { ctx } = hostContext({ agent: "agent-1", company: "company-1", context });
  const config = { dataPath: data, instanceId: "default", skillsFolder: join(data, ".example/skills") };
  const files = new ServerFiles(data, filePlaces(ctx, config, policy));
  try {
    const { text, warnings } = await readInstructions(path, cwd, files, policy);
    return text === "" ? `warning: ${warnings.join()}` : text.split("\n")[0]!;
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

test.each([
  `${INSTANCE}/companies/company-1/agents/agent-1/instructions/AGENTS.md`,
  `${INSTANCE}/skills/company-1/fix/SKILL.md`,
  `${INSTANCE}/projects/company-1/project-1/repo/AGENTS.md`,
  `${INSTANCE}/workspaces/agent-1/AGENTS.md`,
  ".example/skills/own/SKILL.md",
])("read: %s", async (path) => {
  expect(await read(put(path))).toBe(`text of ${path}`);
});

test.each([
  `${INSTANCE}/companies/company-2/agents/agent-1/instructions/AGENTS.md`,
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
  const files = new ServerFiles(data, filePlaces(ctx, config, DEFAULT_POLICY));
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

test("the skills in the host's package", async () => {
  const file = put("npm/node_modules/@paperclipai/server/skills/paperclip/SKILL.md");
  expect(await read(file)).toBe("text of npm/node_modules/@paperclipai/server/skills/paperclip/SKILL.md");
  expect(await read(put("npm/node_modules/@paperclipai/server/package.json"))).toMatch(/^refused/);
});
