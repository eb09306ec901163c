import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { adaptersOf } from "../src/adapters.ts";
import { ApiError } from "../src/api.ts";
import type { Agent, Issue, Run } from "../src/company.ts";
import { CLOSE } from "../src/endings.ts";
import { loadParser, pageOf, pageText } from "../src/page.ts";
import { VERSIONS } from "../src/release.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { dropRoot } from "../src/user.ts";
import { until } from "../src/wait.ts";

// The packed adapter in real hosts, with the real OpenCode CLI on the embedded cluster.

const TYPE = "opencode_k8s";
const say = (line: string) => console.log(line);
let stage: Stage;

const over = ({ status }: Run) => !["queued", "running", "scheduled_retry"].includes(status);
const newestRun = (agent: Agent) => until("a run", async () => (await stage.company.runs(agent.id))[0], 30);
const runEnd = (id: string) =>
  until(
    "the run's end",
    async () => {
      const run = await stage.company.run(id);
      return over(run) ? run : null;
    },
    90,
  );
/** It is deleted behind the run's result, and its pod before it. */
const jobGone = (agent: Agent) =>
  until(
    "the Job's end",
    async () => {
      const jobs = stage.cluster.list("jobs", stage.namespace);
      return !jobs.some(({ metadata }) => Object.values(metadata.labels ?? {}).includes(agent.id));
    },
    30,
  );

async function start(name: string, task: string, config = {}): Promise<{ agent: Agent; issue: Issue; run: Run }> {
  const agent = await stage.company.hire(name, TYPE, { ...stage.config, ...config });
  const issue = await stage.company.assign(agent.id, name, task);
  return { agent, issue, run: await newestRun(agent) };
}

/** What the run page shows, with no working parser as today's browsers have it, and with one. */
async function showsTranscript(run: Run): Promise<void> {
  const log = await stage.company.log(run.id);
  const asSent = pageText(pageOf(log));
  for (const text of ["CLI started", "close-issue", "200 closed", "All done: scripted answer."]) expect(asSent).toContain(text);
  expect(asSent).not.toContain('{"type":');
  const parsed = pageOf(log, loadParser(await adaptersOf(stage.host.url).uiParser(TYPE)));
  expect(parsed).toContainEqual(expect.objectContaining({ kind: "tool_call", name: "bash" }));
  expect(parsed).toContainEqual(
    expect.objectContaining({ kind: "tool_result", content: expect.stringContaining("200 closed"), isError: false }),
  );
  expect(parsed).toContainEqual(expect.objectContaining({ kind: "assistant", text: expect.stringContaining("All done: scripted") }));
}

/** Waits until the model was asked some times in this task, so that the run is in the middle of its work. */
const asked = (marker: string, times: number) =>
  until(
    `steps of ${marker}`,
    async () => stage.llm.requests.filter((r) => r.userTexts.some((t) => t.includes(marker))).length >= times,
    60,
  );

describe.each(VERSIONS)("Paperclip %s", (version) => {
  beforeAll(async () => {
    dropRoot();
    stage = await openStage({ path: inject("adapterPath"), remove: async () => {} }, { version, say });
  });
  afterAll(() => stage?.stop());

  test("the adapter is listed, with its parser, its documentation and its models", async () => {
    const adapters = adaptersOf(stage.host.url);
    expect(await adapters.list()).toContainEqual(expect.objectContaining({ type: TYPE, source: "external", loaded: true }));
    expect(await adapters.uiParser(TYPE)).toContain("parseStdoutLine");
    expect(await adapters.configurationDoc(TYPE)).toContain("namespace");
    expect((await adapters.models(stage.company.id, TYPE)).length).toBeGreaterThan(0);
  });

  test("its config schema is served as the host's form reads it", async (context) => {
    const schema = await adaptersOf(stage.host.url)
      .configSchema(TYPE)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      });
    if (schema === null) return context.skip("the adapter has no getConfigSchema yet");
    const kinds = new Set(["text", "select", "toggle", "number", "textarea", "combobox"]);
    expect(schema.fields.filter(({ type }) => !kinds.has(type))).toEqual([]);
    expect(schema.fields.map(({ key }) => key)).toContain("namespace");
  });

  test("test environment answers for good and for bad settings", async () => {
    const { testEnvironment } = adaptersOf(stage.host.url);
    const bad = await testEnvironment(stage.company.id, TYPE, { ...stage.config, namespace: "Not A Name" });
    expect(bad).toMatchObject({ status: "fail" });
    expect(JSON.stringify(bad.checks)).toContain("namespace");
  });

  test("an assigned issue is worked on and closed; tokens and cost are shown; the next wake resumes the session", async () => {
    const { agent, issue, run } = await start("Closer", CLOSE);
    const first = await runEnd(run.id);
    expect(first).toMatchObject({ status: "succeeded", errorCode: null, error: null });
    expect(first.usageJson).toMatchObject({ usageSource: "per_run", outputTokens: expect.any(Number), provider: "scripted" });
    expect(first.usageJson?.costUsd).toBeGreaterThan(0);
    await showsTranscript(first);
    expect(await stage.company.issue(issue.id)).toMatchObject({ status: "done" });
    // The host books costs a moment after it closes the run.
    await expect.poll(async () => (await stage.company.costs()).spendCents, { timeout: 15_000 }).toBeGreaterThan(0);
    expect(await stage.company.issueCosts(issue.id)).toMatchObject({ outputTokens: first.usageJson?.outputTokens });
    await jobGone(agent);

    await stage.company.comment(issue.id, "say:second turn");
    const second = await until("the second run", async () => (await stage.company.runs(agent.id)).find(({ id }) => id !== run.id), 30);
    expect(await runEnd(second.id)).toMatchObject({ status: "succeeded", sessionIdAfter: first.sessionIdAfter });
    const turn = stage.llm.requests.findLast(({ tools }) => tools > 0);
    expect(turn?.userTexts.length).toBeGreaterThan(1);
    expect(turn?.userTexts[0]).toContain("Closer");
  });

  test("a cancel is obeyed: the Job goes, and a host that waits keeps what the run has used", async () => {
    const { agent, issue, run } = await start("Cancelled", "endless-steps slow-1");
    await asked("Cancelled", 3);
    await stage.company.cancel(run.id);
    const ended = await runEnd(run.id);
    expect(ended).toMatchObject({ status: "cancelled", errorCode: "cancelled" });
    if (version === "2026.916.1") {
      expect(ended.usageJson?.outputTokens).toBeGreaterThan(0);
      expect(ended.sessionIdAfter).toMatch(/^ses_/);
      expect(ended.resultJson).toMatchObject({ executionCancellation: { state: "acknowledged" } });
    }
    await stage.company.update(issue.id, { status: "cancelled" });
    await jobGone(agent);
  });

  test("a failure has its code and its cause, first in the message", async () => {
    const { run } = await start("Refused", "model-error");
    expect(await runEnd(run.id)).toMatchObject({
      status: "failed",
      errorCode: "adapter_failed",
      error: expect.stringMatching(/^Scripted refusal: the request is not valid/),
    });
    const bad = await start("Misconfigured", "say:never", { timeoutSec: "soon" });
    expect(await runEnd(bad.run.id)).toMatchObject({
      status: "failed",
      errorCode: "configuration_incomplete",
      error: expect.stringMatching(/^timeoutSec: /),
    });
  });
});
