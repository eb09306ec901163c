import { expect } from "vitest";
import { CLOSE } from "../../src/ends/endings.ts";
import { happen } from "../../src/ends/observe.ts";
import type { Agent, Company, Issue, Run } from "../../src/host/company.ts";
import { runEnd } from "../../src/host/follow.ts";
import { IssuePage } from "../../src/page/issue-page.ts";
import type { Page } from "../../src/page/playwright.ts";
import { wordsLike, wordsOn } from "../../src/page/words.ts";
import type { Version } from "../../src/server/release.ts";
import { until } from "../../src/wait.ts";
import { type BrowserStage, picture } from "../browser/browser-stage.ts";
import type { Click, EndOnPages } from "./ends.ts";

/** One end on one host: what its pages showed, and the run that followed the click. */
export interface Row {
  readonly end: string;
  readonly version: Version;
  readonly run: Run;
  readonly runPage: string;
  readonly issuePage: string;
  readonly click: Click;
  readonly next: Run;
}

/** With these reasons the host starts a run because of what somebody did on its pages. */
const REASONS: Readonly<Record<Click, RegExp>> = {
  comment: /^issue_(commented|reopened_via_comment)$/,
  todo: /^issue_status_changed$/,
  retry: /^retry_failed_run$/,
  nothing: /./,
};

const CLICKS: Readonly<Record<Click, (pages: Pages) => Promise<void>>> = {
  comment: ({ issue }) => issue.comment(CLOSE),
  todo: ({ issue }) => issue.setStatus("Todo"),
  retry: ({ run }) => run.getByRole("button", { name: "Retry", exact: true }).first().click(),
  nothing: async () => {},
};

interface Pages {
  readonly run: Page;
  readonly issue: IssuePage;
}

let begun = 0;

/** Makes a run end like that, reads the pages, and goes on as somebody would who has nothing but them: the next run closes the issue. */
export async function continueOnPages(browser: BrowserStage, end: EndOnPages): Promise<Row> {
  const { company, host } = browser.stage;
  const { ending } = end;
  const { agent, issue, run } = await happen(browser.stage, ending, ++begun);
  expect(run.resultJson?.cause ?? run.errorCode).toBe(ending.expected?.cause ?? null);
  const pages = {
    run: await browser.open(`/agents/${agent.id}/runs/${run.id}`),
    issue: new IssuePage(await browser.open(`/issues/${issue.identifier}`)),
  };
  const runPage = await wordsLike(pages.run, end.runPage);
  const words = end.issuePage[host.version];
  const issuePage = words === null ? await wordsOn(pages.issue.page) : await wordsLike(pages.issue.page, words);
  await pages.issue.page.screenshot(picture(`end-${host.version}-${ending.name.replaceAll(/\W+/g, "-")}`));
  if (ending.expected?.way === "person") await waitsForSomebody(company, agent, issue);
  await end.fix(browser.stage, agent, issue);
  const earlier = end.click === "nothing" ? [run] : await company.runs(agent.id);
  const known = new Set(earlier.map(({ id }) => id));
  await CLICKS[end.click](pages);
  // A host that also continues by itself may give the comment to the run that it had scheduled anyway.
  const isNext =
    ending.expected?.way === "continue"
      ? ({ id, status }: Run) => id !== run.id && status === "succeeded"
      : ({ id, contextSnapshot }: Run) => !known.has(id) && REASONS[end.click].test(String(contextSnapshot?.wakeReason));
  const next = await until(`a run because of ${end.click}`, async () => (await company.runs(agent.id)).find(isNext));
  await Promise.all([pages.run.close(), pages.issue.page.close()]);
  const row = { end: ending.name, version: host.version, run, runPage, issuePage, click: end.click };
  if (next.status === "scheduled_retry") return { ...row, next };
  const ended = await runEnd(company, next.id);
  await until("the closed issue", async () => (await company.issue(issue.id)).status === "done");
  return { ...row, next: ended };
}

/** The host has put the issue aside a moment after the run's end, does not hold it, and has started nothing else. */
async function waitsForSomebody(company: Company, agent: Agent, issue: Issue): Promise<void> {
  const blocked = await until("the blocked issue", async () => {
    const now = await company.issue(issue.id);
    return now.status === "blocked" ? now : null;
  });
  expect(blocked.executionBlocker ?? null).toBeNull();
  expect(await company.runs(agent.id)).toHaveLength(1);
}
