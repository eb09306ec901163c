import type { Page } from "./playwright.ts";

const PATIENCE_MS = 30_000;

/** Gives the agent whose page this is a task, by the host's dialog. */
export async function assignTask(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Assign Task" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator('[placeholder="Task title"]').fill(title);
  await dialog.getByRole("button", { name: "Create Task" }).click();
  await dialog.waitFor({ timeout: PATIENCE_MS, state: "hidden" });
}
