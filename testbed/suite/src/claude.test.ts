import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LlmRequest } from "@paperclip-k8s/llm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onKube } from "./bed.ts";
import { type ClaudeStage, openClaudeStage, SECRET, TOKEN } from "./claude-agent.ts";
import { type McpTestServer, startMcpServer } from "./mcp-server.ts";

// The real Claude Code CLI: what it is given, and what the model is told of it.

let stage: ClaudeStage;
let mcp: McpTestServer;
beforeAll(async () => {
  stage = await openClaudeStage();
  mcp = await startMcpServer(stage.bed.hostAddress, "list_projects", `the only project ${"is long ".repeat(500)}END`);
});
afterAll(async () => {
  await mcp?.stop();
  await stage?.stop();
});

const sent = (turn: LlmRequest | undefined): string => JSON.stringify([turn?.system, turn?.messages]);

test("two turns: tool call, cost and tokens, then the session is resumed and remembers", async () => {
  const agent = randomUUID();
  const config = { model: "claude-sonnet-5", effort: "high", maxTurnsPerRun: 50 };
  const first = await stage.wake({ agent, task: "Please use-tool once", config });
  expect(first.result).toMatchObject({
    exitCode: 0,
    timedOut: false,
    usageBasis: "per_run",
    usage: { inputTokens: 920, cachedInputTokens: 1600, outputTokens: 114 },
    provider: "anthropic",
    biller: "anthropic",
    billingType: "api",
    model: "claude-sonnet-5",
    summary: "All done: scripted answer.",
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    resultJson: { num_turns: 2, subtype: "success", outcome: "exited" },
  });
  expect(first.result.errorMessage).toBeUndefined();
  expect(first.result.costUsd).toBeGreaterThan(0);
  expect(first.log).toContain("hello-from-tool");
  expect(first.meta).toMatchObject([{ commandArgs: expect.arrayContaining(["--effort", "high", "--max-turns", "50"]) }]);
  expect(first.turns[0]).toMatchObject({ model: "claude-sonnet-5", apiKey: SECRET });
  const second = await stage.wake({ agent, task: "remember", session: first.result.sessionParams ?? null });
  // Of this run alone, although Claude Code goes on counting in its session.
  const used = { inputTokens: 460, cachedInputTokens: 800, outputTokens: 57 };
  expect(second.result).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId, usage: used });
  expect(second.result.costUsd).toBeLessThan(first.result.costUsd ?? 0);
  expect(second.result.summary).toContain("Please use-tool once");
}, 60_000);

/** Instructions and a skill as the host hands them to a run. */
async function teach() {
  const folder = join(stage.bed.data, `taught-${randomUUID()}`);
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
  const first = await stage.wake({ agent, task: "say:hello", config });
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
  const same = await stage.wake({ agent, task: "say:again", config, session });
  expect(same.result.sessionId).toBe(first.result.sessionId);
  expect(same.turns[0]?.system).toContain("INSTRUCTIONS-MARK");
  await writeFile(join(folder, "AGENTS.md"), "OTHER-MARK.\n");
  const other = await stage.wake({ agent, task: "say:anew", config, session });
  expect(other.log).toMatch(/session [0-9a-f-]+ was made with other instructions or skills .*starting a fresh one/);
  expect(other.result.sessionId).not.toBe(first.result.sessionId);
  expect(other.turns[0]?.system).toContain("OTHER-MARK");
  expect(await readdir(bundles)).toHaveLength(2);
}, 60_000);

test("the bundle is read-only in the pod", async () => {
  const { config } = await teach();
  const agent = randomUUID();
  const first = await stage.wake({ agent, task: "say:hello", config: { ...config, retainJobs: true } });
  const key = String(first.result.sessionParams?.promptBundleKey);
  const folder = join(stage.bed.data, "instances/default/data/prompt-bundles/company-1", key);
  const jobs = (await stage.bed.list("jobs")).filter((job) => JSON.stringify(job.metadata).includes(agent));
  expect(jobs).toMatchObject([
    { spec: { template: { spec: { containers: [{ volumeMounts: expect.arrayContaining([mounted(folder)]) }] } } } },
  ]);
  // Only a real cluster has mounts.
  const second = onKube ? await stage.wake({ agent, task: `bash:touch ${folder}/x`, config }) : null;
  if (second !== null) expect(second.log).toContain("Read-only file system");
}, 60_000);

const mounted = (mountPath: string) => expect.objectContaining({ name: "shared", mountPath, readOnly: true });

test("the host's tool servers: called with their token, which stands nowhere else; without them the session is not resumed", async () => {
  const agent = randomUUID();
  const server = { name: "Paperclip projects", url: mcp.url, token: "mcp-t0ken-of-this-run", connectionId: "projects" };
  const ctx = { runtimeMcp: { getServers: () => [server] } };
  const first = await stage.wake({ agent, task: "call:mcp__Paperclip_projects__list_projects {}", ctx });
  expect(first.result).toMatchObject({ exitCode: 0, summary: "All done: scripted answer." });
  expect(new Set(mcp.tokens)).toEqual(new Set(["Bearer mcp-t0ken-of-this-run"]));
  expect(sent(first.turns.at(-1))).toContain("the only project");
  const shown = JSON.stringify([first.result, first.log, first.meta]);
  for (const secret of [server.token, SECRET, TOKEN]) expect(shown).not.toContain(secret);

  const session = first.result.sessionParams ?? null;
  const renewed = { runtimeMcp: { getServers: () => [{ ...server, token: "another-t0ken" }] } };
  expect((await stage.wake({ agent, task: "say:again", session, ctx: renewed })).result.sessionId).toBe(first.result.sessionId);
  const without = await stage.wake({ agent, task: "say:alone", session });
  expect(without.log).toContain("was made with other tool servers");
  expect(without.result.sessionId).not.toBe(first.result.sessionId);
}, 60_000);

test("the filter shortens what the model sees of a tool's output, and the user's own hooks still run", async () => {
  const agent = randomUUID();
  const settings = join(stage.bed.data, ".claude");
  await mkdir(settings, { recursive: true });
  const hook = { type: "command", command: `cat > ${join(stage.bed.data, "hooked.json")}` };
  await writeFile(join(settings, "settings.json"), JSON.stringify({ hooks: { PostToolUse: [{ matcher: "Bash", hooks: [hook] }] } }));
  const config = { enableRtk: true, rtkMaxOutputBytes: 300 };
  const bash = await stage.wake({ agent, task: "bash:seq 1000 1999", config });
  expect(bash.result.exitCode).toBe(0);
  const seen = sent(bash.turns.at(-1));
  expect(seen).toContain("1000\\n1001");
  expect(seen).toMatch(/1998\\*n1999/);
  expect(seen).toMatch(/\[… 4[67]\d\d of 4999 bytes of this output were cut here/);
  expect(seen).not.toContain("1500\\n1501");
  expect(JSON.parse(await readFile(join(stage.bed.data, "hooked.json"), "utf8"))).toMatchObject({ tool_name: "Bash" });

  const server = { name: "projects", url: mcp.url, token: "t", connectionId: "p" };
  const ctx = { runtimeMcp: { getServers: () => [server] } };
  const tool = await stage.wake({ task: "call:mcp__projects__list_projects {}", config, ctx });
  expect(sent(tool.turns.at(-1))).toMatch(/the only project.*bytes of this output were cut here.*END/);
  const off = await stage.wake({ task: "bash:seq 1000 1999" });
  expect(sent(off.turns.at(-1))).toContain("1500\\n1501");
}, 60_000);
