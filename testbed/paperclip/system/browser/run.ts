import { beforeAll, expect, test } from "vitest";
import { TYPES } from "../../src/agent-kinds.ts";
import { CLOSE } from "../../src/ends/endings.ts";
import { nextRun, runEnd } from "../../src/host/follow.ts";
import { assignTask } from "../../src/page/assign-task.ts";
import type { Page } from "../../src/page/playwright.ts";
import { RunPage } from "../../src/page/run-page.ts";
import { until } from "../../src/wait.ts";
import { type BrowserStage, picture } from "./browser-stage.ts";

/** The whole page as it is shown. */
// biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is in the document
const shown = (page: Page): Promise<string> => page.locator("main").first().innerText();

/** An operator watches runs on the host's own pages. */
export function runTests(stageOf: () => BrowserStage): void {
  let browser: BrowserStage;
  beforeAll(() => {
    browser = stageOf();
  });

  test.each(TYPES)("%s: a task is assigned, run and issue show its steps while it works, and Cancel ends it", async (type) => {
    const { company } = browser.stage;
    const agent = await browser.hire(`Busy ${type}`, type);
    const agentPage = await browser.open(`/agents/${agent.id}/overview`);
    await assignTask(agentPage, "endless-steps slow-1");
    await agentPage.close();
    const page = await browser.runPage(agent);
    const transcript = new RunPage(page);
    const steps = async () => new Set((await transcript.text()).match(/step \d+/g)).size;
    const first = await until("the first steps on the page", steps);
    await until("more steps on the page", async () => (await steps()) > first + 1);
    const { id } = await nextRun(company, agent);
    expect(await company.run(id)).toMatchObject({ status: "running" });
    await page.screenshot(picture(`run-live-${type}`));
    const [issue] = await company.issuesOf(agent.id);
    const issuePage = await browser.open(`/issues/${issue!.identifier}`);
    await issuePage
      .getByText(/^▸ bash echo step \d+$/i)
      .first()
      .waitFor();
    await issuePage.screenshot(picture(`issue-live-${type}`));
    await issuePage.close();
    await page.getByRole("button", { name: "Cancel", exact: true }).first().click();
    expect(await runEnd(company, id)).toMatchObject({ status: "cancelled", errorCode: "cancelled" });
    await until("the cancelled run on the page", async () => /cancelled/i.test(await shown(page)));
    await page.screenshot(picture(`run-cancelled-${type}`));
    await page.close();
    for (const issue of await company.issuesOf(agent.id)) await company.update(issue.id, { status: "cancelled" });
  });

  test.each(TYPES)("%s: a finished run has its tokens and cost, a readable transcript, and a rich one with a parser", async (type) => {
    const { company } = browser.stage;
    const agent = await browser.hire(`Done ${type}`, type);
    const issue = await company.assign(agent.id, `Close with ${type}`, CLOSE);
    const run = await runEnd(company, (await nextRun(company, agent)).id);
    expect(run).toMatchObject({ status: "succeeded" });

    const plain = await browser.runPage(agent);
    const asUsersGetIt = new RunPage(plain);
    await asUsersGetIt.settle(false);
    for (const text of ["CLI started", "close-issue", "200 closed", "All done: scripted answer."]) {
      expect(await asUsersGetIt.text()).toContain(text);
    }
    const cost = Number(run.usageJson?.costUsd).toFixed(3);
    await until(`the cost $${cost} on the page`, async () => (await shown(plain)).includes(`$${cost}`));
    expect(await shown(plain)).toMatch(/\b114\b/);
    await plain.setViewportSize({ width: 1440, height: 1600 });
    await plain.screenshot(picture(`run-done-${type}`));
    await plain.close();

    const patched = await browser.runPage(agent, true);
    const rich = new RunPage(patched);
    await rich.settle(true);
    await patched.setViewportSize({ width: 1440, height: 1600 });
    await patched.screenshot(picture(`run-done-rich-${type}`));
    await rich.show("raw");
    const kinds = await rich.text();
    for (const kind of ["TOOL_CALL", "TOOL_RESULT", "ASSISTANT"]) expect(kinds.toUpperCase()).toContain(kind);
    await patched.close();

    const issuePage = await browser.open(`/issues/${issue.identifier}`);
    await issuePage
      .getByText(/The work is done; nothing is left to do/)
      .first()
      .waitFor();
    await issuePage.screenshot(picture(`issue-done-${type}`));
    await issuePage.close();
  });

  test.each(TYPES)("%s: a failed run shows its cause", async (type) => {
    const { company } = browser.stage;
    const agent = await browser.hire(`Failed ${type}`, type);
    const issue = await company.assign(agent.id, `Fail with ${type}`, "model-error");
    await runEnd(company, (await nextRun(company, agent)).id);
    const page = await browser.runPage(agent);
    await page
      .getByText(/Scripted refusal: the request is not valid/)
      .first()
      .waitFor();
    await page.setViewportSize({ width: 1440, height: 1600 });
    await page.screenshot(picture(`run-failed-${type}`));
    await page.close();
    await company.update(issue.id, { status: "cancelled" });
  });
}
