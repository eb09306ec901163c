import { afterAll, beforeAll, describe } from "vitest";
import { HOSTS, NEWEST } from "./breadth.ts";
import { type BrowserStage, openBrowserStage } from "./browser/browser-stage.ts";
import { builtInTests } from "./browser/built-in.ts";
import { formTests } from "./browser/form.ts";
import { meanwhileTests } from "./browser/meanwhile.ts";
import { runTests } from "./browser/run.ts";

// People at a host's own pages, in Chromium.

describe.each(HOSTS)("Paperclip %s", (version) => {
  let browser: BrowserStage;
  beforeAll(async () => {
    browser = await openBrowserStage(version);
  });
  afterAll(() => browser?.stop());

  if (version === NEWEST) describe("form", () => formTests(() => browser));
  if (version === NEWEST) describe("run", () => runTests(() => browser));
  describe("meanwhile", () => meanwhileTests(() => browser));
});

describe(`Paperclip ${NEWEST}, built-in types`, () => {
  let browser: BrowserStage;
  beforeAll(async () => {
    browser = await openBrowserStage(NEWEST, true);
  });
  afterAll(() => browser?.stop());

  builtInTests(() => browser);
});
