import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPEN_FILES } from "../../testing/test-policy.ts";
import { type PromptInput, preparePrompt } from "./prepare-prompt.ts";

let data: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "prompt-"));
  await mkdir(join(data, "agent"));
  await mkdir(join(data, "skills/fix"), { recursive: true });
  await writeFile(join(data, "agent/AGENTS.md"), "\nINSTRUCTIONS $(x) `y`\n");
  await writeFile(join(data, "skills/fix/SKILL.md"), "SKILL\n");
});
afterAll(() => rm(data, { recursive: true, force: true }));

const wake = { reason: "issue_commented", issue: { id: "i1", identifier: "ACME-1", title: "Door", description: "DESCRIPTION" } };
const context = {
  source: "assignment",
  paperclipWake: wake,
  paperclipSessionHandoffMarkdown: " HANDOFF ",
  paperclipTaskMarkdown: "TASK IN FULL",
  paperclipTaskMarkdownCompact: "TASK IN SHORT",
};

interface Changes {
  readonly context?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
  readonly settings?: Partial<PromptInput["settings"]>;
  readonly sessionId?: string;
}

function prepare(changes: Changes = {}) {
  const skills = { paperclipRuntimeSkills: [{ key: "acme/fix", runtimeName: "fix", source: join(data, "skills/fix") }] };
  return preparePrompt({
    ctx: {
      runId: "run-1",
      agent: { id: "agent-1", companyId: "company-1", name: "Ada" },
      context: changes.context ?? context,
      config: changes.config ?? { ...skills, paperclipSkillSync: { desiredSkills: ["fix"] } },
      authToken: "run-token-0123456789",
    },
    policy: OPEN_FILES,
    settings: {
      instructionsFilePath: join(data, "agent/AGENTS.md"),
      promptTemplate: "HEARTBEAT of {{agent.name}}",
      bootstrapPromptTemplate: "BOOTSTRAP",
      dataPath: data,
      instanceId: "default",
      skillsFolder: join(data, ".example/skills"),
      ...changes.settings,
    },
    sessionId: changes.sessionId ?? null,
    cwd: data,
  });
}

/** The sections in their order, each by its mark. */
function order(text: string): string[] {
  const marks =
    /INSTRUCTIONS|SKILL$|BOOTSTRAP|Paperclip (?:Wake Payload|Resume Delta)|HANDOFF|TASK IN FULL|TASK IN SHORT|HEARTBEAT of Ada/gm;
  return text.match(marks) ?? [];
}

const all = ["INSTRUCTIONS", "SKILL", "BOOTSTRAP", "Paperclip Wake Payload", "HANDOFF", "TASK IN FULL", "HEARTBEAT of Ada"];
const recovery = { ...wake, reason: "source_scoped_recovery_action" };

test.each<[string, Changes, string[]]>([
  ["a fresh session gets all", {}, all],
  [
    "a resumed one neither bootstrap nor template",
    { sessionId: "ses_1" },
    ["INSTRUCTIONS", "SKILL", "Paperclip Resume Delta", "HANDOFF", "TASK IN SHORT"],
  ],
  ["a resumed one without a wake gets the template", { sessionId: "ses_1", context: {} }, ["INSTRUCTIONS", "SKILL", "HEARTBEAT of Ada"]],
  [
    "a recovery says itself what to do",
    { context: { paperclipWake: recovery } },
    ["INSTRUCTIONS", "SKILL", "BOOTSTRAP", "Paperclip Wake Payload"],
  ],
  [
    "empty sections leave no trace",
    { context: {}, config: {}, settings: { instructionsFilePath: null, bootstrapPromptTemplate: null } },
    ["HEARTBEAT of Ada"],
  ],
])("%s", async (_, changes, sections) => {
  const { text, warnings } = await prepare(changes);
  expect(order(text)).toEqual(sections);
  expect(text).not.toMatch(/\n{3}|^\s|\s$/);
  expect(warnings).toEqual([]);
});

test("the description is given once", async () => {
  expect((await prepare()).text).not.toContain("DESCRIPTION");
  expect((await prepare({ context: { paperclipWake: wake } })).text).toContain("DESCRIPTION");
});

test("the measures name each section's characters", async () => {
  const { text, metrics } = await prepare();
  const { promptChars, ...parts } = metrics;
  expect(promptChars).toBe(text.length);
  expect(metrics).toMatchObject({ bootstrapPromptChars: 9, sessionHandoffChars: 7, taskContextChars: 12, heartbeatPromptChars: 16 });
  expect(Object.values(parts).every((chars) => chars > 0)).toBe(true);
  const separators = 2 * (Object.keys(parts).length - 1);
  expect(Object.values(parts).reduce((sum, chars) => sum + chars, separators)).toBe(text.length);
  const resumed = (await prepare({ sessionId: "ses_1" })).metrics;
  expect(resumed).toMatchObject({ bootstrapPromptChars: 0, heartbeatPromptChars: 0 });
});

test.each([
  ["{{agentId}} {{companyId}} {{runId}}", "agent-1 company-1 run-1"],
  ["{{ agent.id }} {{agent.name}} {{company.id}}", "agent-1 Ada company-1"],
  ["{{run.id}} {{run.source}}", "run-1 assignment"],
  ["{{context.paperclipWake.issue.identifier}}", "ACME-1"],
  ["[{{context.nothing.there}}] [{{nothing}}]", "[] []"],
  ["{{context.paperclipWake.issue}}", JSON.stringify(wake.issue)],
])("template %s", async (promptTemplate, rendered) => {
  const { text } = await prepare({
    context: { source: "assignment", paperclipWake: wake },
    config: {},
    settings: { promptTemplate, instructionsFilePath: null },
  });
  expect(text.endsWith(`\n\n${rendered}`)).toBe(true);
});

test("no token reaches a template", async () => {
  const tokens = { paperclipRuntimeTools: { bearerToken: "rt-0123456789" }, note: "use run-token-0123456789", apiToken: "abc" };
  const { text } = await prepare({
    context: tokens,
    settings: { promptTemplate: "{{context}} {{context.paperclipRuntimeTools.bearerToken}}" },
  });
  expect(text).toContain('{"note":"use ***REDACTED***","apiToken":"***REDACTED***"}');
  expect(text).not.toMatch(/rt-0123|run-token|abc/);
});

test("without a template the host's own text names the agent; in a conversation it is another", async () => {
  const task = (await prepare({ context: {}, settings: { promptTemplate: null } })).text;
  expect(task).toContain("You are agent agent-1 (Ada). Continue your Paperclip work.");
  const chat = (await prepare({ context: { conversationMode: true }, settings: { promptTemplate: null } })).text;
  expect(chat).toContain("You are agent agent-1 (Ada). Continue your Paperclip conversation");
});

test("instructions end with where they came from; a relative path starts at the working directory", async () => {
  const { text, notes } = await prepare({ settings: { instructionsFilePath: "agent/AGENTS.md" } });
  expect(text).toContain(`INSTRUCTIONS $(x) \`y\`\n\nThe instructions above were read from ${data}/agent/AGENTS.md.`);
  expect(text).toMatch(/HEARTBEAT\.md, SOUL\.md, TOOLS\.md.* resolved from .*\/agent\/, not from the parent agent directory\./);
  expect(notes).toEqual([`instructions from ${data}/agent/AGENTS.md`, "skills: fix"]);
});

test.each([
  ["agent/none.md", "no such file"],
  ["agent", "not a file"],
])("instructions at %s: a warning that names them, and the run goes on", async (path, reason) => {
  const { text, warnings, metrics } = await prepare({ settings: { instructionsFilePath: join(data, path) } });
  expect(warnings).toEqual([`instructions file ${data}/${path} was not read (${reason}); the run goes on without it`]);
  expect(order(text)).toEqual(all.slice(1));
  expect(metrics.instructionsChars).toBe(0);
});

test("the history that the host hands over is given, and to a resumed session only what is new", async () => {
  const executionContinuation = {
    version: 1,
    messages: [{ body: "OLD" }, { body: "NEW" }],
    coverage: {},
    resumeDelta: { baseRunId: "r0", messages: [{ body: "NEW" }] },
  };
  const history = { paperclipWake: { ...wake, executionContinuation } };
  expect((await prepare({ context: history })).text).toContain("OLD");
  const resumed = (await prepare({ context: history, sessionId: "ses_1" })).text;
  expect(resumed).toContain("NEW");
  expect(resumed).not.toContain("OLD");
});

test("the host's instructions for connections stand behind its wake prompt in every turn, once", async () => {
  const connectionInstructions = { text: "## Connection instructions\n\nCite the checklist.", digest: "d1" };
  const given = { ...context, connectionInstructions };
  const fresh = await prepare({ context: given });
  expect(fresh.text.indexOf("Cite the checklist.")).toBeGreaterThan(fresh.text.indexOf("ACME-1"));
  expect(fresh.text.indexOf("Cite the checklist.")).toBeLessThan(fresh.text.indexOf("HANDOFF"));
  expect((await prepare({ context: given, sessionId: "ses_1" })).text).toContain("Cite the checklist.");
  // Where nothing else woke the agent, its template is still needed.
  const bare = await prepare({ context: { connectionInstructions, paperclipWake: { connectionInstructions } }, sessionId: "ses_1" });
  expect(bare.text).toMatch(/Cite the checklist\.[\s\S]*HEARTBEAT of Ada/);
  // As a later version of the host's library would render it.
  const rendered = { ...given, paperclipWake: { ...wake, connectorSkillInstructions: connectionInstructions.text } };
  expect((await prepare({ context: rendered })).text.split("Cite the checklist.")).toHaveLength(2);
  const long = await prepare({ context: { connectionInstructions: { text: "x".repeat(200_000) } } });
  expect(long.warnings.join()).toContain("200000 characters");
});
