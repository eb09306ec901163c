import { join } from "node:path";
import { inject } from "vitest";
import type { AdapterType } from "../../src/agent-kinds.ts";
import type { Agent } from "../../src/host/company.ts";
import { nextRun } from "../../src/host/follow.ts";
import { openBrowser } from "../../src/page/browser.ts";
import { ARTEFACTS } from "../../src/page/pictures.ts";
import { type Page, preparePlaywright } from "../../src/page/playwright.ts";
import { VERSIONS, type Version } from "../../src/server/release.ts";
import { dropRoot } from "../../src/server/user.ts";
import { openStage, type Stage } from "../../src/stage.ts";

/** A host with its pages, and a browser that looks at them. */
export interface BrowserStage {
  readonly stage: Stage;
  /** Opens a page of the company; `patched`: with a host's parser worker that starts. */
  open(path: string, patched?: boolean): Promise<Page>;
  runPage(agent: Agent, patched?: boolean): Promise<Page>;
  hire(name: string, type: AdapterType, config?: object): Promise<Agent>;
  stop(): Promise<void>;
}

export async function openBrowserStage(version: Version = VERSIONS[0], builtIn = false): Promise<BrowserStage> {
  dropRoot();
  const playwright = await preparePlaywright((line) => console.log(line));
  const stage = await openStage(inject("packed"), { version, builtIn, ui: true, say: (line) => console.log(line) });
  try {
    // In the host's home, since that goes even when we are killed.
    const browser = await openBrowser(playwright, inject("chromium"), { folder: join(stage.host.home.root, "browser") });
    const { issuePrefix } = await stage.company.about();
    const open = (path: string, patched = false) => browser.open(`${stage.host.url}/${issuePrefix}${path}`, patched);
    return {
      stage,
      open,
      runPage: async (agent, patched) => open(`/agents/${agent.id}/runs/${(await nextRun(stage.company, agent)).id}`, patched),
      hire: (name, type, config) => stage.company.hire(name, type, { ...stage.config(type), ...config }),
      stop: () => browser.close().finally(() => stage.stop()),
    };
  } catch (error) {
    await stage.stop();
    throw error;
  }
}

export const picture = (name: string): { path: string } => ({ path: join(ARTEFACTS, `${name}.png`) });
