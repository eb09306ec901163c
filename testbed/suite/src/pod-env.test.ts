import { mkdir } from "node:fs/promises";
import { createEngine } from "@paperclip-k8s/engine";
import { type AgentCli, createAdapter } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, settingsFor, startBed } from "./bed.ts";

// What an agent's CLI finds in its pod, as shown by a CLI that prints it. It is also the smallest AgentCli there can be.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

const TELL = `let prompt = ""; process.stdin.on("data", (part) => { prompt += part; })
  .on("end", () => console.log(JSON.stringify({ env: process.env, cwd: process.cwd(), prompt })));`;

interface Found {
  env: Record<string, string>;
  cwd: string;
  prompt: string;
}

function tellingCli(found: (line: string) => void, script = TELL): AgentCli {
  return {
    ...exampleCli,
    container: "printer",
    jobPrefix: "agent-printer-",
    state: undefined,
    plan: () => ({ argv: ["node", "-e", script], plainEnv: {}, secretEnv: {}, notes: [] }),
    createParser: () => ({
      push(text) {
        found(text);
        return [{ kind: "other", text }];
      },
      report: () => ({ ...silentReport, text: "done", outputTokens: 1, finished: true, events: 1 }),
      fault: () => null,
    }),
  };
}

test("every variable of the host, the agent's own ones byte for byte, private homes, and nothing of the server's disk", async () => {
  const home = `${bed.data}/instances/default/workspaces/agent-1`;
  const workspace = `${home}/acme`;
  await mkdir(workspace, { recursive: true });
  const odd = "$(HOME) $$ \\ 'x' \"y\" \u{1f600}";
  let reported: Found = { env: {}, cwd: "", prompt: "" };
  const adapter = createAdapter(
    tellingCli((line) => {
      reported = JSON.parse(line);
    }),
    {
      engine: createEngine(),
      serverEnv: { ...TEST_POLICY, PAPERCLIP_API_URL: "http://host.example:3100", PAPERCLIP_HOME: bed.data, HOME: "/home/server" },
    },
  );
  const { dataPath: _, ...settings } = settingsFor(bed);
  const { ctx } = hostContext({
    runId: "run-1",
    agent: "agent-1",
    config: {
      ...settings,
      env: {
        ODD: odd,
        TMPDIR: "/tmp/paperclip-run-1",
        PAPERCLIP_RUN_SCRATCH_DIR: "/tmp/paperclip-run-1",
        GH_CONFIG_DIR: "/home/server/.config/gh",
        PAPERCLIP_DEV_API_KEY: "dev-key",
      },
    },
    context: {
      taskId: "task-1",
      issueId: "issue-1",
      wakeReason: "issue_commented",
      commentId: "comment-1",
      approvalId: "approval-1",
      approvalStatus: "approved",
      issueIds: ["issue-1", "issue-2"],
      paperclipScratch: { dir: "/tmp/paperclip-run-1", tempKeysApplied: ["TMPDIR"] },
      paperclipWake: {
        reason: "issue_commented",
        issue: { id: "issue-1", identifier: "ACME-1", title: "Fix", status: "todo", workMode: "standard" },
      },
      paperclipTaskMarkdown: "# Fix the door",
      paperclipWorkspace: {
        cwd: workspace,
        source: "project_primary",
        strategy: "git_worktree",
        workspaceId: "workspace-1",
        repoUrl: "https://example.com/acme.git",
        repoRef: "main",
        branchName: "acme-1",
        worktreePath: workspace,
        agentHome: home,
      },
      paperclipWorkspaces: [{ workspaceId: "workspace-1", cwd: workspace }],
      paperclipRuntimeServiceIntents: [{ name: "web" }],
      paperclipRuntimeServices: [{ name: "web", url: "http://web:80" }],
      paperclipRuntimePrimaryUrl: "http://web:80",
    },
    change: { authToken: "run-token" },
  });
  const result = await adapter.execute(ctx);
  expect(result).toMatchObject({ exitCode: 0 });
  const { env, cwd, prompt } = reported;
  expect(cwd).toBe(workspace);
  expect(prompt).toContain("# Fix the door");
  expect(env).toMatchObject({
    PAPERCLIP_AGENT_ID: "agent-1",
    PAPERCLIP_COMPANY_ID: "company-1",
    PAPERCLIP_RUN_ID: "run-1",
    // The runner's relay, which leads there.
    PAPERCLIP_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    PAPERCLIP_API_KEY: "run-token",
    PAPERCLIP_TASK_ID: "task-1",
    PAPERCLIP_ISSUE_WORK_MODE: "standard",
    PAPERCLIP_WAKE_REASON: "issue_commented",
    PAPERCLIP_WAKE_COMMENT_ID: "comment-1",
    PAPERCLIP_WAKE_PAYLOAD_JSON: expect.stringContaining("ACME-1"),
    PAPERCLIP_APPROVAL_ID: "approval-1",
    PAPERCLIP_APPROVAL_STATUS: "approved",
    PAPERCLIP_LINKED_ISSUE_IDS: "issue-1,issue-2",
    PAPERCLIP_WORKSPACE_CWD: workspace,
    PAPERCLIP_WORKSPACE_SOURCE: "project_primary",
    PAPERCLIP_WORKSPACE_STRATEGY: "git_worktree",
    PAPERCLIP_WORKSPACE_ID: "workspace-1",
    PAPERCLIP_WORKSPACE_REPO_URL: "https://example.com/acme.git",
    PAPERCLIP_WORKSPACE_REPO_REF: "main",
    PAPERCLIP_WORKSPACE_BRANCH: "acme-1",
    PAPERCLIP_WORKSPACE_WORKTREE_PATH: workspace,
    PAPERCLIP_WORKSPACES_JSON: expect.stringContaining("workspace-1"),
    PAPERCLIP_RUNTIME_SERVICE_INTENTS_JSON: '[{"name":"web"}]',
    PAPERCLIP_RUNTIME_SERVICES_JSON: '[{"name":"web","url":"http://web:80"}]',
    PAPERCLIP_RUNTIME_PRIMARY_URL: "http://web:80",
    AGENT_HOME: home,
    ODD: odd,
    HOME: expect.stringMatching(/home/),
  });
  expect(env.TMPDIR).toBe(env.TMP);
  expect(env.TMPDIR).not.toContain("paperclip-run-1");
  expect(env.PAPERCLIP_RUN_SCRATCH_DIR).toBe(env.TMPDIR);
  for (const name of ["GH_CONFIG_DIR", "PAPERCLIP_DEV_API_KEY"]) expect(env).not.toHaveProperty(name);
});

const NOTE = `const notes = process.env.AGENT_HOME + "/notes.txt"; require("node:fs").appendFileSync(notes, "line\\n");
  console.log(JSON.stringify({ home: process.env.AGENT_HOME, notes: require("node:fs").readFileSync(notes, "utf8") }));`;

test.each<[string, (instance: string) => Record<string, string>]>([
  [
    "project",
    (instance) => ({
      source: "project_primary",
      cwd: `${instance}/projects/company-1/p1/repo`,
      agentHome: `${instance}/workspaces/project`,
    }),
  ],
  ["home", (instance) => ({ source: "agent_home", cwd: `${instance}/workspaces/home`, agentHome: `${instance}/workspaces/home` })],
  // A folder that pods of this agent do not mount, and one that they may only read.
  ["elsewhere", () => ({ source: "agent_home", agentHome: "/srv/homes/elsewhere" })],
  ["readonly", (instance) => ({ source: "agent_home", agentHome: `${instance}/companies/company-1/agents/readonly/instructions` })],
])("what a run writes in AGENT_HOME the next one finds there: %s", async (agent, workspaceOf) => {
  const instance = `${bed.data}/instances/default`;
  const { cwd, ...workspace } = workspaceOf(instance);
  for (const folder of [cwd, `${instance}/companies/company-1/agents/readonly/instructions`])
    if (folder !== undefined) await mkdir(folder, { recursive: true });
  const found: unknown[] = [];
  const serverEnv = { ...TEST_POLICY, PAPERCLIP_HOME: bed.data };
  const adapter = createAdapter(
    tellingCli((line) => void found.push(JSON.parse(line)), NOTE),
    { engine: createEngine(), serverEnv },
  );
  for (const taskKey of ["task-1", "task-2"]) {
    const context = { projectId: "p1", paperclipWorkspace: { cwd, ...workspace } };
    const { ctx, log } = hostContext({ agent, taskKey, config: settingsFor(bed), context });
    expect(await adapter.execute(ctx), log()).toMatchObject({ exitCode: 0 });
  }
  const home = `${instance}/workspaces/${agent}`;
  expect(found).toEqual([
    { home, notes: "line\n" },
    { home, notes: "line\nline\n" },
  ]);
});
