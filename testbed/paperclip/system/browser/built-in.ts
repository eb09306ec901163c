import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { type CliName, cliNames } from "../../../../packages/adapters.ts";
import { adaptersOf } from "../../src/host/adapters.ts";
import type { Agent } from "../../src/host/company.ts";
import { runEnd } from "../../src/host/follow.ts";
import { RunPage } from "../../src/page/run-page.ts";
import { builtInConfig } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";
import { type BrowserStage, picture } from "./browser-stage.ts";

/** Agents of the built-in types at the host's own pages: run by the host's own adapter, then by ours in its place. */
export function builtInTests(stageOf: () => BrowserStage): void {
  let browser: BrowserStage;
  beforeAll(() => {
    browser = stageOf();
  });

  test.each(cliNames)("%s_local: run page, issue page and form, in the server and as a Job", async (cli) => {
    const { company, host, llm } = browser.stage;
    const packed = inject("packed");
    const agent = await company.hire(`Built-in ${cli}`, `${cli}_local`, builtInConfig(llm, `${cli}_k8s`));
    await watch(cli, agent, `${cli}-in-server`);
    await adaptersOf(host).install(join(packed.folder, packed.inPlace.find((name) => name.includes(`-${cli}-`)) ?? ""));
    const { stepsOnIssue, transcript } = await watch(cli, agent, `${cli}-as-job`);
    // The host's own parser reads a Job's lines, and the issue's page has the step at which the agent is.
    expect(transcript).not.toContain('{"type"');
    expect(stepsOnIssue).toBeGreaterThan(1);
  });

  /** An endless task, looked at until it has come some steps further, and then cancelled. */
  async function watch(cli: CliName, agent: Agent, name: string): Promise<{ transcript: string; stepsOnIssue: number }> {
    const { company } = browser.stage;
    const before = new Set((await company.runs(agent.id)).map(({ id }) => id));
    const issue = await company.assign(agent.id, name, "endless-steps slow-1");
    const run = await until("the run", async () => (await company.runs(agent.id)).find(({ id }) => !before.has(id)));
    const runPage = await browser.open(`/agents/${agent.id}/runs/${run.id}`);
    const shown = new RunPage(runPage);
    await until("commands in the transcript", async () => /command|echo step/i.test(await shown.text()));
    await runPage.screenshot(picture(`run-${name}`));
    const issuePage = await browser.open(`/issues/${issue.identifier}`);
    const steps = new Set<string>();
    await until("the issue's page at work", async () => {
      // biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is in the document
      const text = await issuePage.locator("main").first().innerText();
      for (const [step] of text.matchAll(/echo step \d+/g)) steps.add(step);
      return steps.size > 2 || (name.endsWith("in-server") && /working|running|command/i.test(text));
    });
    await issuePage.screenshot(picture(`issue-${name}`));
    const transcript = await shown.text();
    await issuePage.close();
    await runPage.close();
    await company.update(issue.id, { status: "cancelled" });
    await runEnd(company, run.id);
    const form = await browser.open(`/agents/${agent.id}/runtime`);
    // The page goes on to the agent's name, and is empty again until it has loaded that.
    await until("the agent's own address", async () => form.url().includes(`/agents/built-in-${cli}/`));
    await form.getByText("Adapter type", { exact: true }).first().waitFor();
    await form.screenshot(picture(`form-${name}`));
    await form.close();
    return { transcript, stepsOnIssue: steps.size };
  }
}
