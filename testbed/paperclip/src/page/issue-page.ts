import type { Page } from "./playwright.ts";

/** The page of one issue: its thread, the box to write in, its status. */
export class IssuePage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Writes a comment and sends it. */
  async comment(text: string): Promise<void> {
    const box = this.page.locator('[data-testid="task-chat-composer-input"] [contenteditable=true]').first();
    await box.fill(text);
    await box.press("Control+Enter");
  }

  /** Chooses a status by the mark beside the title. */
  async setStatus(status: string): Promise<void> {
    await this.page
      .getByRole("button", { name: /^Change status/ })
      .first()
      .click();
    // A choice has its mark and its name, which are the same words.
    await this.page.getByRole("button", { name: `${status} ${status}`, exact: true }).click();
  }
}
