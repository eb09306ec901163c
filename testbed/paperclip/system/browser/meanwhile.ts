import { beforeAll, expect, test } from "vitest";
import type { Issue, Run } from "../../src/host/company.ts";
import { runEnd } from "../../src/host/follow.ts";
import { until } from "../../src/wait.ts";
import { type AtWork, atWork, busy, nothingLeft, textOf } from "../agents/at-work.ts";
import { NEWEST } from "../breadth.ts";
import { type BrowserStage, picture } from "./browser-stage.ts";

let browser: BrowserStage;

/** A comment wakes the agent, and that wake's own run answers it: the script answers the last message. */
async function answered({ agent, issue }: AtWork, words: string, since: readonly Run[]): Promise<Run> {
  const { company } = browser.stage;
  const known = new Set(since.map(({ id }) => id));
  const fresh = async () => (await company.runs(agent.id)).filter(({ id }) => !known.has(id));
  const run = await until(`an answer to ${words}`, async () => {
    for (const each of (await fresh()).reverse()) if ((await textOf(browser.stage, each)).includes(`● ${words}`)) return each;
    return null;
  });
  expect(await runEnd(company, run.id)).toMatchObject({ status: "succeeded", errorCode: null });
  expect(await held(issue)).toBeNull();
  return run;
}

const held = async (issue: Issue) => (await browser.stage.company.issue(issue.id)).executionBlocker ?? null;

/** The newest host takes what a stopped run has used, and its session. */
function keptItsUse(run: Run): void {
  if (browser.stage.host.version !== NEWEST) return;
  expect(run.usageJson?.outputTokens).toBeGreaterThan(0);
  expect(run.sessionIdAfter).toBeTruthy();
}

/** What people do while an agent is at work: they comment, they cancel its run, they pause it. */
export function meanwhileTests(stageOf: () => BrowserStage): void {
  beforeAll(() => {
    browser = stageOf();
  });

  test.concurrent("a comment during a run is answered by a run of its own, after it", async () => {
    const { stage } = browser;
    const work = await atWork(stage, "Commented", "echo the first word", "claude_k8s");
    await stage.company.comment(work.issue.id, "say:the second word");
    work.goOn();
    const first = await runEnd(stage.company, work.run.id);
    expect(first).toMatchObject({ status: "succeeded", errorCode: null });
    expect(await textOf(stage, first)).toContain("the first word");
    expect(await textOf(stage, first)).not.toContain("the second word");
    const second = await answered(work, "the second word", [work.run]);
    expect(second.retryOfRunId).toBeNull();
    expect(Date.parse(second.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(first.finishedAt ?? ""));
    expect(await textOf(stage, second)).not.toContain("adopted Job");
    await stage.company.update(work.issue.id, { status: "done" });
    await nothingLeft(stage, work.agent);
  });

  test.concurrent("Cancel on the run's page: the run is cancelled, nothing is left of it, and the next comment is answered", async () => {
    const { stage } = browser;
    const work = await busy(stage, "Cancelled");
    const page = await browser.runPage(work.agent);
    await page.getByRole("button", { name: "Cancel", exact: true }).first().click();
    const ended = await runEnd(stage.company, work.run.id);
    expect(ended).toMatchObject({ status: "cancelled", errorCode: "cancelled" });
    keptItsUse(ended);
    await page
      .getByText(/^cancelled$/i)
      .first()
      .waitFor();
    await page.screenshot(picture(`cancelled-${stage.host.version}`));
    await page.close();
    await nothingLeft(stage, work.run);
    expect(await held(work.issue)).toBeNull();
    await goesOnAfter(work, "back after the cancel");
  });

  test.concurrent("Pause of the agent: its run is cancelled, nothing is left of it; resumed, it answers the next comment", async () => {
    const { stage } = browser;
    const work = await busy(stage, "Paused", "claude_k8s");
    await stage.company.pause(work.agent.id);
    const ended = await runEnd(stage.company, work.run.id);
    expect(ended).toMatchObject({ status: "cancelled", errorCode: "agent_paused" });
    keptItsUse(ended);
    await nothingLeft(stage, work.agent);
    expect(await held(work.issue)).toBeNull();
    await stage.company.resume(work.agent.id);
    await goesOnAfter(work, "back after the pause");
  });
}

/** The elder host starts a cancelled run again by itself; the comment comes after that. */
async function goesOnAfter(work: AtWork, words: string): Promise<void> {
  const { company } = browser.stage;
  const before = await company.runs(work.agent.id);
  for (const { id } of before) await runEnd(company, id);
  await company.comment(work.issue.id, `say:${words}`);
  const run = await answered(work, words, before);
  expect(await textOf(browser.stage, run)).not.toContain("adopted Job");
  await company.update(work.issue.id, { status: "done" });
  await nothingLeft(browser.stage, work.agent);
}
