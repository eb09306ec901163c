import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { HANG_MS } from "../wait.ts";
import type { BrowserContext, Page, Playwright } from "./playwright.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

// The host's parser worker sets globals that have only a getter and dies of it before it loads any parser. Each such line is let fail.
const PATCHED_WORKER = `{
  const Plain = Blob;
  const patch = (part) => typeof part === "string" ? part.replace(/^self\\.(\\w+) = _undefined;$/gm, "try{self.$1=_undefined}catch{}") : part;
  window.Blob = class extends Plain { constructor(parts, options) { super((parts ?? []).map(patch), options); } };
}`;

export interface Browser {
  /** `patched`: with a parser worker that starts; else the page is what users get. */
  open(url: string, patched: boolean): Promise<Page>;
  close(): Promise<void>;
}

export interface BrowserOptions {
  /** For profile and home. */
  readonly folder: string;
  /** Of the window; 1000 unless given. */
  readonly height?: number;
}

/** A browser with an empty profile in that folder, which whoever owns the folder removes. */
export async function openBrowser(playwright: Playwright, executablePath: string, options: BrowserOptions): Promise<Browser> {
  const { folder } = options;
  const [profile, home] = [join(folder, "profile"), join(folder, "home")];
  for (const path of [profile, home]) mkdirSync(path, { recursive: true });
  const context: BrowserContext = await playwright.chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: FLAGS,
    reducedMotion: "reduce", // a spinner without a graphics card takes as much as an agent
    viewport: { width: 1440, height: options.height ?? 1000 },
    // After we gave up root, the home of our environment is not ours.
    env: { ...process.env, HOME: home, TMPDIR: home },
    // A signal is for us; Chromium ends by itself when the pipe to it breaks.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  context.setDefaultTimeout(HANG_MS);
  return {
    open: async (url, patched) => {
      const page = await context.newPage();
      if (patched) await page.addInitScript({ content: PATCHED_WORKER });
      await page.goto(url, { waitUntil: "domcontentloaded" });
      return page;
    },
    close: () => context.close(),
  };
}
