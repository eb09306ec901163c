import { beforeAll, describe, expect, test } from "vitest";
import { TYPES } from "../../src/agent-kinds.ts";
import { adaptersOf } from "../../src/host/adapters.ts";
import type { Agent } from "../../src/host/company.ts";
import { AgentForm } from "../../src/page/agent-form.ts";
import { isFixed, otherValues } from "../../src/page/form-values.ts";
import { labelOf } from "../../src/page/label.ts";
import { createAgent } from "../../src/page/new-agent.ts";
import type { Page } from "../../src/page/playwright.ts";
import { HANG_MS, until } from "../../src/wait.ts";
import { type BrowserStage, picture } from "./browser-stage.ts";

/** An operator at the host's own pages: a new agent, its settings, the test button. */
export function formTests(stageOf: () => BrowserStage): void {
  describe.each(TYPES)("%s", (type) => {
    let browser: BrowserStage;
    beforeAll(() => {
      browser = stageOf();
    });
    let agent: Agent;
    let page: Page;

    test("a new agent is made in the host's dialog, although its test says that the cluster is still to be set", async () => {
      page = await browser.open("/agents/new");
      await createAgent(page, `New ${type}`, labelOf(type), async () => {
        const said = await new AgentForm(page).test();
        expect(said).toContain("Connection needs attention");
        expect(said).toContain("Set Kubeconfig, Namespace, Image, Data claim on the agent's settings page");
        await page.screenshot(picture(`new-agent-test-${type}`));
      });
      const find = async () => (await browser.stage.company.agents()).find(({ name }) => name === `New ${type}`);
      agent = await until("the new agent", find);
      expect(agent).toMatchObject({ adapterType: type });
      await page.close();
    });

    test("each field of the form is set, saved, and there again after a reload", async () => {
      const { fields } = await adaptersOf(browser.stage.host).configSchema(type);
      const values = otherValues(fields);
      page = await browser.open(`/agents/${agent.id}/runtime`);
      const form = new AgentForm(page);
      await form.ready(fields);
      await page.setViewportSize({ width: 1440, height: 2400 });
      await page.screenshot(picture(`form-first-${type}`));
      for (const field of fields) expect([field.key, await form.shows(field)]).toEqual([field.key, field.meta === undefined]);
      for (const [field, value] of values) await form.set(field, value);
      await page.setViewportSize({ width: 1440, height: 4600 });
      await page.screenshot(picture(`form-${type}`));
      await page.setViewportSize({ width: 1440, height: 1000 });
      await form.save();
      const wanted = Object.fromEntries([...values].map(([{ key }, value]) => [key, value]));
      const saved = async () => (await browser.stage.company.agent(agent.id)).adapterConfig;
      await expect.poll(saved, { timeout: HANG_MS }).toMatchObject(wanted);
      await page.reload({ waitUntil: "domcontentloaded" });
      await form.ready(fields);
      for (const [field, value] of values) expect({ [field.key]: await form.get(field) }).toEqual({ [field.key]: value });
    });

    test("what the policy decides is not asked for; if it was set before, it is there to be taken back", async () => {
      const { fields } = await adaptersOf(browser.stage.host).configSchema(type);
      const account = fields.find(({ key }) => key === "serviceAccountName")!;
      expect(isFixed(account)).toBe(true);
      const set = await browser.hire(`Account ${type}`, type, { serviceAccountName: "paperclip" });
      const own = await browser.open(`/agents/${set.id}/runtime`);
      const form = new AgentForm(own);
      await form.ready(fields);
      expect(await form.get(account)).toBe("paperclip");
      await form.clear(account);
      await form.save();
      await expect.poll(async () => (await browser.stage.company.agent(set.id)).adapterConfig).not.toHaveProperty("serviceAccountName");
      await own.reload({ waitUntil: "domcontentloaded" });
      await form.ready(fields);
      expect(await form.shows(account)).toBe(false);
      await own.close();
    });

    test("the test button tells what is wrong, and that all is well", async () => {
      const { fields } = await adaptersOf(browser.stage.host).configSchema(type);
      const form = new AgentForm(page);
      await page.setViewportSize({ width: 1440, height: 4600 }); // else the bar with the buttons covers the picture
      const wrong = await form.test();
      expect(wrong).toContain("Couldn't connect");
      expect(wrong).toMatch(/must be/);
      await form.testResult().screenshot(picture(`test-wrong-${type}`));
      const right = await browser.hire(`Right ${type}`, type);
      await page.goto(page.url().replace(/agents\/[^/]+/, `agents/${right.id}`), { waitUntil: "domcontentloaded" });
      await form.ready(fields);
      const well = await form.test();
      for (const text of ["Connection successful", "all required permissions", "The agent's CLI answers: "]) expect(well).toContain(text);
      await form.testResult().screenshot(picture(`test-right-${type}`));
      await page.close();
    });
  });
}
