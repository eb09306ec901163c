import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { claude } from "../../../packages/adapter-claude/src/agent-cli.ts";
import { opencode } from "../../../packages/adapter-opencode/src/agent-cli.ts";
import { type AdapterType, TYPES } from "../src/agent-kinds.ts";
import { adaptersOf } from "../src/host/adapters.ts";
import type { Agent, Issue, Run } from "../src/host/company.ts";
import { nextRun, runEnd } from "../src/host/follow.ts";
import { loadParser, pageOf, pageText } from "../src/page/page-text.ts";
import { VERSIONS } from "../src/server/release.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";
import { closesItsIssue, noJobOf } from "./agents/closes-its-issue.ts";
import { manyAtOnce } from "./agents/many-at-once.ts";
import { ELDER, LONG, NEWEST } from "./breadth.ts";
import { restartUnder } from "./restart/restart-under.ts";

// The packed adapters in real hosts beside the embedded cluster, with the real CLIs. What shows the same on the elder host runs there with LONG=1.

const OWN_FIELD: Readonly<Record<AdapterType, string>> = { opencode_k8s: "agentDbMode", claude_k8s: "maxTurnsPerRun" };
let stage: Stage;

async function start(name: string, type: AdapterType, task: string, config = {}): Promise<{ agent: Agent; issue: Issue; run: Run }> {
  const agent = await stage.company.hire(name, type, { ...stage.config(type), ...config });
  const issue = await stage.company.assign(agent.id, name, task);
  return { agent, issue, run: await nextRun(stage.company, agent) };
}

/** What the run page shows, with no working parser as today's browsers have it, and with one. */
async function showsTranscript(type: AdapterType, run: Run): Promise<void> {
  const log = await stage.company.log(run.id);
  const asSent = pageText(pageOf(log));
  for (const text of ["CLI started", "close-issue", "200 closed", "All done: scripted answer."]) expect(asSent).toContain(text);
  expect(asSent).not.toContain('{"type":');
  const parsed = pageOf(log, loadParser(await adaptersOf(stage.host).uiParser(type)));
  expect(parsed).toContainEqual(expect.objectContaining({ kind: "tool_call", name: expect.stringMatching(/^bash$/i) }));
  expect(parsed).toContainEqual(
    expect.objectContaining({ kind: "tool_result", content: expect.stringContaining("200 closed"), isError: false }),
  );
  expect(parsed).toContainEqual(expect.objectContaining({ kind: "assistant", text: expect.stringContaining("All done: scripted") }));
}

/** Waits until the model was asked some times in this task, so that the run is in the middle of its work. */
const asked = (marker: string, times: number) =>
  until(`steps of ${marker}`, async () => stage.llm.requests.filter((r) => r.userTexts.some((t) => t.includes(marker))).length >= times);

describe.each(VERSIONS)("Paperclip %s", (version) => {
  beforeAll(async () => {
    dropRoot();
    stage = await openStage(inject("packed"), { version, say: (line) => console.log(line) });
  });
  afterAll(() => stage?.stop());
  const broad = LONG || version === NEWEST;

  test.each(TYPES)("%s is listed, with its parser, its documentation, its models and its form", async (type) => {
    const adapters = adaptersOf(stage.host);
    expect(await adapters.list()).toContainEqual(expect.objectContaining({ type, source: "external", loaded: true }));
    expect(await adapters.uiParser(type)).toContain("parseStdoutLine");
    expect(await adapters.configurationDoc(type)).toContain("namespace");
    expect((await adapters.models(stage.company.id, type)).length).toBeGreaterThan(0);
    const { fields } = await adapters.configSchema(type);
    const kinds = new Set(["text", "select", "toggle", "number", "textarea", "combobox"]);
    expect(fields.filter((field) => !kinds.has(field.type))).toEqual([]);
    expect(fields.map(({ key }) => key)).toEqual(expect.arrayContaining(["namespace", OWN_FIELD[type]]));
  });

  test.runIf(broad).each(TYPES)("%s: test environment answers for bad settings", async (type) => {
    const { testEnvironment } = adaptersOf(stage.host);
    const bad = await testEnvironment(stage.company.id, type, { ...stage.config(type), namespace: "Not A Name" });
    expect(bad).toMatchObject({ status: "fail" });
    expect(bad.checks).toContainEqual(expect.objectContaining({ level: "error", message: expect.stringMatching(/^namespace: must be/i) }));
  });

  test.each(TYPES)("%s: an issue goes from assigned to done, by the agent's own hand; the next wake resumes the session", async (type) => {
    const { agent, issue, run } = await closesItsIssue(stage, type);
    await showsTranscript(type, run);
    await stage.company.comment(issue.id, "say:second turn");
    const second = await nextRun(stage.company, agent, run);
    expect(await runEnd(stage.company, second.id)).toMatchObject({ status: "succeeded", sessionIdAfter: run.sessionIdAfter });
    const turn = stage.llm.requests.findLast(({ tools }) => tools > 0);
    expect(turn?.userTexts.length).toBeGreaterThan(1);
    expect(JSON.stringify(turn?.messages)).toContain(`Close ${type}`);
  });

  test.runIf(broad)("Claude Code is given the host's own skills and tool servers", async () => {
    const { run } = await start("Equipped", "claude_k8s", "say:equipped");
    await runEnd(stage.company, run.id);
    const asked = stage.llm.requests.findLast(
      ({ tools, userTexts }) => tools > 0 && userTexts.some((text) => text.includes("say:equipped")),
    );
    expect(JSON.stringify(asked?.messages)).toContain("The following skills are available");
    if (version === NEWEST) expect(JSON.stringify(await stage.company.events(run.id))).toContain("tool servers: Paperclip projects");
  });

  test("a cancel is carried out: the Job goes, and a host that waits keeps what the run has used", async () => {
    const { agent, issue, run } = await start("Cancelled", "opencode_k8s", "endless-steps slow-1");
    await asked("Cancelled", 3);
    await stage.company.cancel(run.id);
    const ended = await runEnd(stage.company, run.id);
    expect(ended).toMatchObject({ status: "cancelled", errorCode: "cancelled" });
    if (version === NEWEST) {
      expect(ended.usageJson?.outputTokens).toBeGreaterThan(0);
      expect(ended.sessionIdAfter).toMatch(/^ses_/);
      expect(ended.resultJson).toMatchObject({ executionCancellation: { state: "acknowledged" } });
    }
    await stage.company.update(issue.id, { status: "cancelled" });
    await noJobOf(stage, agent);
  });

  test.runIf(broad).each(TYPES)("%s: a failure has its code and its cause, first in the message", async (type) => {
    const { run } = await start(`Refused ${type}`, type, "model-error");
    expect(await runEnd(stage.company, run.id)).toMatchObject({
      status: "failed",
      errorCode: "configuration_incomplete",
      resultJson: { cause: "llm_request_refused" },
      error: expect.stringMatching(/^(API Error: 400 )?Scripted refusal: the request is not valid/),
    });
    const bad = await start(`Misconfigured ${type}`, type, "say:never", { image: "no image" });
    expect(await runEnd(stage.company, bad.run.id)).toMatchObject({
      status: "failed",
      errorCode: "configuration_incomplete",
      error: expect.stringMatching(/^Image: /),
    });
  });

  const many = LONG ? 10 : 4;
  test.runIf(version === NEWEST).each(LONG ? [opencode, claude] : [opencode])(
    `$type: ${many} issues at once for one agent: all done, transcripts complete`,
    (cli) => manyAtOnce(stage, cli, many, (path) => path),
  );

  test.runIf(version === ELDER)(
    "SIGTERM: the next run adopts the Job, its agent still closes its issue, and without the relay it cannot; a cancel ends it",
    () => restartUnder(stage, "SIGTERM"),
  );
});
