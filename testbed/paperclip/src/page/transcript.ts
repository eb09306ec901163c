// `node testbed/paperclip/src/page/transcript.ts [--version v] [--task words] [--out DIR]`: real runs, and their transcripts as the
// page of a real host shows them in Chromium: as users get it today, and with the host's parser worker patched.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { call } from "../host/api.ts";
import { packAdapters } from "../packages/install.ts";
import { prepareRelease, VERSIONS, versionNamed } from "../server/release.ts";
import { dropRoot } from "../server/user.ts";
import { openStage, type Stage } from "../stage.ts";
import { type Browser, openBrowser } from "./browser.ts";
import { prepareChromium } from "./chromium.ts";
import { picturesFolder } from "./pictures.ts";
import { preparePlaywright } from "./playwright.ts";
import { RunPage } from "./run-page.ts";
import { makeRun, type ShownRun, shownRuns } from "./shown-runs.ts";

const begun = Date.now();
const say = (line: string) => console.error(line);
const { values } = parseArgs({ options: { out: { type: "string" }, task: { type: "string" }, version: { type: "string" } } });
const version = versionNamed(values.version ?? VERSIONS[0]);
const runs: readonly ShownRun[] = values.task === undefined ? shownRuns : [{ name: "task", task: values.task }];

await prepareRelease(version, say);
const [chromium, playwright] = [await prepareChromium(say), await preparePlaywright(say)];
const pictures = values.out === undefined ? null : picturesFolder(join(values.out, "run-page"));
const packed = await packAdapters(say);
dropRoot();
await showAll();
say(`took ${Math.round((Date.now() - begun) / 1000)} s`);

async function showAll(): Promise<void> {
  const stage = await openStage(packed, { version, ui: true, say });
  try {
    // In the host's home, since that goes even when we are killed.
    const browser = await openBrowser(playwright, chromium, {
      folder: join(stage.host.home.root, "browser"),
      height: 3000, // as tall as a long transcript, so that a picture has all of it
    });
    try {
      const { issuePrefix } = await call<{ issuePrefix: string }>(stage.host, "GET", `/companies/${stage.company.id}`);
      for (const shown of runs) {
        const { path, run } = await makeRun(stage, issuePrefix, shown);
        say(`${shown.name}: ${run.status}`);
        await showRun(stage, browser, path, shown.name);
      }
    } finally {
      await browser.close();
    }
  } finally {
    await stage.stop();
  }
}

async function showRun(stage: Stage, browser: Browser, path: string, name: string): Promise<void> {
  for (const patched of [false, true]) {
    const tab = await browser.open(stage.host.url + path, patched);
    const page = new RunPage(tab);
    const report = async (view: string) => {
      const text = (await page.text()).replaceAll(stage.host.home.path, "$PAPERCLIP_HOME").replaceAll(/\n{2,}/g, "\n");
      console.log(`\n--- ${name}: ${view}\n${text.trim()}`);
      if (pictures !== null) await page.picture(join(pictures, `${name}-${view.replaceAll(/\W+/g, "-")}.png`));
    };
    await page.settle(patched);
    await report(patched ? "parsed, nice" : "as users get it");
    if (pictures !== null && !patched) {
      await tab.screenshot({ path: join(pictures, `${name}-page.png`) });
      // A run that was not started has no invocation.
      const details = tab.getByText("Details", { exact: true });
      if ((await details.count()) > 0) await details.first().click();
      await tab.screenshot({ path: join(pictures, `${name}-invocation.png`) });
    }
    if (patched) {
      await page.unfold();
      await report("parsed, nice, unfolded");
      await page.show("raw");
      await report("parsed, raw");
    }
    await tab.close();
  }
}
