import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LlmRequest } from "@paperclip-k8s/llm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents, SECRET, TOKEN } from "./agents.ts";
import { onKube } from "./bed.ts";
import { type McpTestServer, startMcpServer } from "./mcp-server.ts";

// The real Claude Code CLI: what it is given, and what the model gets of it.

let stage: Agents;
let mcp: McpTestServer;
beforeAll(async () => {
  stage = await openAgents();
  mcp = await startMcpServer(stage.bed.hostAddress, "list_projects", `the only project ${"is long ".repeat(500)}END`);
});
afterAll(async () => {
  await mcp?.stop();
  await stage?.stop();
});

const sent = (turn: LlmRequest | undefined): string => JSON.stringify([turn?.system, turn?.messages]);

/** Instructions and a skill as the host hands them to a run. */
async function teach() {
  const folder = join(stage.bed.data, "instances/default/skills/company-1", `taught-${randomUUID()}`);
  const source = join(folder, "frobnicate");
  await mkdir(join(source, "scripts"), { recursive: true });
  await writeFile(join(folder, "AGENTS.md"), "INSTRUCTIONS-MARK: always be brief.\n");
  await writeFile(join(source, "SKILL.md"), "---\nname: frobnicate\ndescription: How to frobnicate the widget\n---\nTurn it twice.\n");
  await writeFile(join(source, "scripts/turn.sh"), "#!/bin/sh\necho turned\n", { mode: 0o755 });
  const config = {
    instructionsFilePath: join(folder, "AGENTS.md"),
    paperclipRuntimeSkills: [{ key: "acme/frobnicate", runtimeName: "frobnicate", source }],
    paperclipSkillSync: { desiredSkills: ["frobnicate", "nowhere"] },
  };
  return { folder, config };
}

test("skills and instructions reach the model, once per content; with others the session is not resumed", async () => {
  const { folder, config } = await teach();
  const agent = randomUUID();
  const first = await stage.run({ cli: "claude", agent, prompt: "say:hello", config });
  expect(first.result).toMatchObject({ exitCode: 0, sessionParams: { promptBundleKey: expect.stringMatching(/^[0-9a-f]{32}$/) } });
  expect(first.turns[0]?.system).toContain("INSTRUCTIONS-MARK");
  expect(sent(first.turns[0])).toContain("How to frobnicate the widget");
  expect(first.turns[0]?.userTexts.at(-1)).not.toContain("INSTRUCTIONS-MARK");
  expect(first.log).toMatch(/skill "nowhere" is left out/);

  const bundles = join(stage.bed.data, "instances/default/data/prompt-bundles/company-1");
  const [key = ""] = await readdir(bundles);
  expect(await readdir(bundles)).toEqual([first.result.sessionParams?.promptBundleKey]);
  expect((await stat(join(bundles, key, ".claude/skills/frobnicate/scripts/turn.sh"))).mode & 0o777).toBe(0o555);
  expect((await stat(join(bundles, key, "agent-instructions.md"))).mode & 0o777).toBe(0o444);

  const session = first.result.sessionParams ?? null;
  const same = await stage.run({ cli: "claude", agent, prompt: "say:again", config, session });
  expect(same.result.sessionId).toBe(first.result.sessionId);
  expect(same.turns[0]?.system).toContain("INSTRUCTIONS-MARK");
  await writeFile(join(folder, "AGENTS.md"), "OTHER-MARK.\n");
  const other = await stage.run({ cli: "claude", agent, prompt: "say:anew", config, session });
  expect(other.log).toMatch(/session [0-9a-f-]+ was made with other instructions or skills .*starting a fresh one/);
  expect(other.result.sessionId).not.toBe(first.result.sessionId);
  expect(other.turns[0]?.system).toContain("OTHER-MARK");
  expect(await readdir(bundles)).toHaveLength(2);
});

test("the bundle is read-only in the pod", async () => {
  const { config } = await teach();
  const agent = randomUUID();
  const first = await stage.run({ cli: "claude", agent, prompt: "say:hello", config: { ...config, retainJobs: true } });
  const key = String(first.result.sessionParams?.promptBundleKey);
  const folder = join(stage.bed.data, "instances/default/data/prompt-bundles/company-1", key);
  const jobs = (await stage.bed.list("jobs")).filter((job) => JSON.stringify(job.metadata).includes(agent));
  expect(jobs).toMatchObject([
    { spec: { template: { spec: { containers: [{ volumeMounts: expect.arrayContaining([mounted(folder)]) }] } } } },
  ]);
  // Only a real cluster has mounts.
  const second = onKube ? await stage.run({ cli: "claude", agent, prompt: `bash:touch ${folder}/x`, config }) : null;
  if (second !== null) expect(second.log).toContain("Read-only file system");
});

const mounted = (mountPath: string) => expect.objectContaining({ name: "shared", mountPath, readOnly: true });

test("the host's tool servers: called with their token, which stands nowhere else; without them the session is not resumed", async () => {
  const agent = randomUUID();
  const server = { name: "Paperclip projects", url: mcp.url, token: "mcp-t0ken-of-this-run", connectionId: "projects" };
  const ctx = { runtimeMcp: { getServers: () => [server] } };
  const first = await stage.run({ cli: "claude", agent, prompt: "call:mcp__Paperclip_projects__list_projects {}", change: ctx });
  expect(first.result).toMatchObject({ exitCode: 0, summary: "All done: scripted answer." });
  expect(new Set(mcp.tokens)).toEqual(new Set(["Bearer mcp-t0ken-of-this-run"]));
  expect(sent(first.turns.at(-1))).toContain("the only project");
  const shown = JSON.stringify([first.result, first.log, first.meta]);
  for (const secret of [server.token, SECRET, TOKEN]) expect(shown).not.toContain(secret);

  const session = first.result.sessionParams ?? null;
  const renewed = { runtimeMcp: { getServers: () => [{ ...server, token: "another-t0ken" }] } };
  expect((await stage.run({ cli: "claude", agent, prompt: "say:again", session, change: renewed })).result.sessionId).toBe(
    first.result.sessionId,
  );
  const without = await stage.run({ cli: "claude", agent, prompt: "say:alone", session });
  expect(without.log).toContain("was made with other tool servers");
  expect(without.result.sessionId).not.toBe(first.result.sessionId);
});

test("the filter shortens what the model sees of a tool's output, and the user's own hooks still run", async () => {
  const agent = randomUUID();
  const settings = join(stage.bed.data, ".claude");
  await mkdir(settings, { recursive: true });
  const hook = { type: "command", command: `cat > ${join(stage.tools, "hooked.json")}` };
  await writeFile(join(settings, "settings.json"), JSON.stringify({ hooks: { PostToolUse: [{ matcher: "Bash", hooks: [hook] }] } }));
  const config = { enableRtk: true, rtkMaxOutputBytes: 300 };
  const policy = `seeds: { folder: ${stage.bed.data} }`;
  const bash = await stage.run({ cli: "claude", agent, prompt: "bash:seq 1000 1999", config, policy });
  expect(bash.result.exitCode).toBe(0);
  const seen = sent(bash.turns.at(-1));
  expect(seen).toContain("1000\\n1001");
  expect(seen).toMatch(/1998\\*n1999/);
  expect(seen).toMatch(/\[… 4[67]\d\d of 4999 bytes of this output were cut here/);
  expect(seen).not.toContain("1500\\n1501");
  expect(JSON.parse(await readFile(join(stage.tools, "hooked.json"), "utf8"))).toMatchObject({ tool_name: "Bash" });

  const server = { name: "projects", url: mcp.url, token: "t", connectionId: "p" };
  const ctx = { runtimeMcp: { getServers: () => [server] } };
  const tool = await stage.run({ cli: "claude", prompt: "call:mcp__projects__list_projects {}", config, change: ctx });
  expect(sent(tool.turns.at(-1))).toMatch(/the only project.*bytes of this output were cut here.*END/);
  const off = await stage.run({ cli: "claude", prompt: "bash:seq 1000 1999" });
  expect(sent(off.turns.at(-1))).toContain("1500\\n1501");
});
