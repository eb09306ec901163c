import type { Page } from "./playwright.ts";

/** Goes through the host's dialog for a new agent; the page is then the new agent's. `before`: what is done before the last click. */
export async function createAgent(page: Page, name: string, adapterLabel: string, before?: () => Promise<void>): Promise<void> {
  await page.getByLabel("Agent name").fill(name);
  await page.getByRole("button", { name: "Choose adapter" }).click();
  await page.getByRole("dialog").getByText(adapterLabel, { exact: true }).first().click();
  await page.getByRole("button", { name: "Configure agent" }).click();
  const finish = page.getByRole("button", { name: /^(Finish setup|Creating)/ });
  await finish.waitFor();
  await before?.();
  await finish.click();
  await finish.waitFor({ state: "hidden" });
}
