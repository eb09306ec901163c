import type { Page } from "./playwright.ts";

/** Gives the agent whose page this is a task, by the host's dialog. */
export async function assignTask(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Assign Task" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator('[placeholder="Task title"]').fill(title);
  await dialog.getByRole("button", { name: "Create Task" }).click();
  await dialog.waitFor({ state: "hidden" });
}
