import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { prepareCluster } from "../src/ends/endings.ts";
import { ARTEFACTS } from "../src/page/pictures.ts";
import { VERSIONS, type Version } from "../src/server/release.ts";
import { LONG } from "./breadth.ts";
import { type BrowserStage, openBrowserStage } from "./browser/browser-stage.ts";
import { continueOnPages, type Row } from "./ends/continue-on-pages.ts";
import { ENDS, type EndOnPages, endOnPages } from "./ends/ends.ts";
import { pagesTable } from "./ends/ends-table.ts";

// Every way of a run to end, as somebody sees it who has only the host's pages: what they say, and the click or the comment that goes on.

const NO_KEY = endOnPages(
  {
    name: "no key at all",
    type: "claude_k8s",
    task: "say:hello",
    config: ({ env }) => ({ env: { ...(env as object), ANTHROPIC_API_KEY: { type: "plain", value: "" } } }),
    expected: { cause: "claude_auth_required", way: "person", wayOutBy: "comment" },
  },
  { run: /Not logged in/, issue: /has no key for the model's provider.*Environment variables.*comment here/s, isCommon: true },
);
const BAD_NAME = endOnPages(
  {
    name: "a service account that is none",
    task: "say:hello",
    config: { serviceAccountName: "No_Name" },
    expected: { cause: "configuration_incomplete", way: "person", wayOutBy: "comment" },
  },
  {
    run: /Service account.*must be a Kubernetes name/,
    issue: /Service account.*must be a Kubernetes name.*Correct it on the agent's \w+ page.*comment here/s,
    click: "retry",
    isCommon: true,
  },
);

const all: readonly EndOnPages[] = [NO_KEY, BAD_NAME, ...ENDS];
const cases = all
  .filter(({ isCommon }) => LONG || isCommon)
  .flatMap((end) => VERSIONS.map((version) => ({ version, end, name: end.ending.name })));

const stages = new Map<Version, Promise<BrowserStage>>();
const rows: Row[] = [];

afterAll(async () => {
  await Promise.all([...stages.values()].map(async (browser) => (await browser).stop()));
});

/** Opened by the first test that needs it. */
function stageOf(version: Version): Promise<BrowserStage> {
  const known = stages.get(version);
  if (known !== undefined) return known;
  const opened = open(version);
  stages.set(version, opened);
  return opened;
}

async function open(version: Version): Promise<BrowserStage> {
  const browser = await openBrowserStage(version);
  prepareCluster(browser.stage);
  return browser;
}

test.concurrent.each(cases)("$version: $name", async ({ version, end }) => {
  const row = await continueOnPages(await stageOf(version), end);
  rows.push(row);
  writeFileSync(join(ARTEFACTS, "ends.md"), pagesTable(rows));
});
