import { until } from "../wait.ts";
import type { Locator, Page } from "./playwright.ts";

export type Mode = "nice" | "raw";

const QUIET_MS = 2000;
/** What nice mode makes of our status lines; without a parser they are part of the page's STDOUT block. */
const PARSED = /\d SYSTEM MESSAGES?/;

/** The transcript part of a run page. */
export class RunPage {
  readonly #page: Page;
  readonly #block: Locator;

  constructor(page: Page) {
    this.#page = page;
    // The page has no ids to go by: the heading and the mode buttons are one row, the transcript is what follows.
    this.#block = page
      .getByText(/^Transcript \(/)
      .first()
      .locator("xpath=../following-sibling::*[1]");
  }

  /** Waits until the page has shown the same text for a while, and with a working parser until it is parsed. */
  async settle(patched: boolean): Promise<void> {
    await this.#block.waitFor();
    if (patched) await until("the parsed transcript", async () => PARSED.test(await this.text()));
    let last = "";
    let since = Date.now();
    await until("a page that stays as it is", async () => {
      const text = await this.text();
      if (text !== last) [last, since] = [text, Date.now()];
      return Date.now() - since > QUIET_MS;
    });
    if (!patched && PARSED.test(last))
      throw new Error("the unpatched page shows a parsed transcript: the host's worker starts by itself now");
  }

  // biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is in the document
  text = (): Promise<string> => this.#block.innerText();

  async show(mode: Mode): Promise<void> {
    await this.#page.getByRole("button", { name: mode, exact: true }).click();
  }

  /** Opens what nice mode has folded. */
  async unfold(): Promise<void> {
    await this.#block.evaluate((element) => {
      // A folded block is a row that takes clicks; the arrow in it is a button of its own, and both together change nothing.
      for (const row of element.querySelectorAll("[role=button]")) row.click();
    });
  }

  /** The transcript scrolls inside the page; for a picture it is shown whole, if it is no longer than the window. */
  async picture(path: string): Promise<void> {
    await this.#block.evaluate((element) => {
      element.style.maxHeight = "2000px";
    });
    await this.#block.screenshot({ path });
  }
}
