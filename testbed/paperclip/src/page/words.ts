import { until } from "../wait.ts";
import type { Page } from "./playwright.ts";

/** What a page of the host shows, without its menus. */
// biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is in the document
export const wordsOn = (page: Page): Promise<string> => page.locator("main").first().innerText();

/** Waits for the words; gives all that the page shows then. */
export async function wordsLike(page: Page, words: RegExp): Promise<string> {
  let shown = "";
  const found = async () => {
    shown = await wordsOn(page);
    return words.test(shown);
  };
  await until(`${words} on ${page.url()}`, found).catch((error: Error) => {
    throw new Error(`${error.message}; it shows: ${shown}`);
  });
  return shown;
}
