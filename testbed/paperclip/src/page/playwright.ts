import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { npmInstall, ROOT } from "../server/release.ts";

const VERSION = "1.65.0";
const CACHE = join(ROOT, "node_modules/.cache/playwright-core");

/** The little of Playwright that we use; the package is no dependency of the repository, so its own types are not at hand. */
export interface Playwright {
  readonly chromium: { launchPersistentContext(userDataDir: string, options: Readonly<Record<string, unknown>>): Promise<BrowserContext> };
}

export interface BrowserContext {
  newPage(): Promise<Page>;
  setDefaultTimeout(ms: number): void;
  addCookies(cookies: readonly { name: string; value: string; url: string }[]): Promise<void>;
  close(): Promise<void>;
}

interface Finder {
  getByRole(role: string, options?: { name?: string | RegExp; exact?: boolean }): Locator;
  getByText(text: string | RegExp, options?: { exact?: boolean }): Locator;
  getByLabel(text: string): Locator;
  locator(selector: string): Locator;
}

export interface Page extends Finder {
  addInitScript(script: { content: string }): Promise<unknown>;
  goto(url: string, options: { waitUntil: "domcontentloaded" }): Promise<unknown>;
  reload(options: { waitUntil: "domcontentloaded" }): Promise<unknown>;
  url(): string;
  screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  close(): Promise<void>;
}

export interface Locator extends Finder {
  first(): Locator;
  last(): Locator;
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  press(key: string): Promise<void>;
  blur(): Promise<void>;
  count(): Promise<number>;
  inputValue(): Promise<string>;
  getAttribute(name: string): Promise<string | null>;
  isVisible(): Promise<boolean>;
  scrollIntoViewIfNeeded(): Promise<void>;
  waitFor(options?: { state?: "visible" | "hidden" }): Promise<void>;
  /** The text as it is shown, and nothing that is hidden. */
  innerText(): Promise<string>;
  /** The function runs in the page: it knows nothing of ours. */
  evaluate<T>(inPage: (element: PageElement) => T): Promise<T>;
  screenshot(options: { path: string }): Promise<unknown>;
}

/** The little we use of a page's element; this program is compiled without the browser's types. */
export interface PageElement {
  readonly style: { maxHeight: string };
  querySelectorAll(selector: string): Iterable<{ click(): void }>;
}

/** The driver from npm, kept beside the Paperclip releases. */
export async function preparePlaywright(say: (line: string) => void): Promise<Playwright> {
  const folder = join(CACHE, VERSION);
  if (!existsSync(folder)) await install(folder, say);
  return createRequire(join(folder, "package.json"))("playwright-core") as Playwright;
}

// Moved into place when complete: a folder with the version's name is never half an install.
async function install(folder: string, say: (line: string) => void): Promise<void> {
  const partial = `${folder}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true });
  say(`installing playwright-core ${VERSION} from npm (once)`);
  try {
    await npmInstall(partial, { "playwright-core": VERSION });
    await rename(partial, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error; // else another process was faster
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}
