import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { npmInstall, ROOT } from "../release.ts";

const VERSION = "1.65.0";
const CACHE = join(ROOT, "node_modules/.cache/playwright-core");

/** The little of Playwright that we use; the package is no dependency of the repository, so its own types are not at hand. */
export interface Playwright {
  readonly chromium: { launchPersistentContext(userDataDir: string, options: Readonly<Record<string, unknown>>): Promise<BrowserContext> };
}

export interface BrowserContext {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

export interface Page {
  addInitScript(script: { content: string }): Promise<unknown>;
  goto(url: string, options: { waitUntil: "domcontentloaded" }): Promise<unknown>;
  /** The text is evaluated in the page; its value comes back as JSON. */
  evaluate<T>(expression: string): Promise<T>;
  getByRole(role: string, options: { name: string; exact?: boolean }): Locator;
  getByText(text: string | RegExp): Locator;
  on(event: "console", listener: (message: { type(): string; text(): string }) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  close(): Promise<void>;
}

export interface Locator {
  first(): Locator;
  click(): Promise<void>;
  waitFor(options?: { timeout?: number }): Promise<void>;
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
