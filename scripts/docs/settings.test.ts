import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliNames, loadKits } from "../../packages/adapters.ts";
import { configurationDoc } from "../../packages/paperclip/src/settings/documents.ts";
import { fieldsOf } from "../../packages/paperclip/src/settings/schema.ts";
import { between } from "./between.ts";
import { settingsTables } from "./settings.ts";

const kits = await loadKits();
const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/settings.md"), "utf8");
const other = page.replace(/(\| `graceSec` \| [^|]+ \|) `60` \|/, "$1 `15` |");

/** What `npm run docs` says of the documents, or of another page of settings. */
function checkDocs(...paths: string[]): Promise<{ ok: boolean; said: string }> {
  const args = [join(root, "scripts/generate-docs.ts"), "--check", ...paths];
  return new Promise((resolve) => execFile(process.execPath, args, (error, _, said) => resolve({ ok: error === null, said })));
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "docs-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.concurrent("the documents are as they are made, and show the settings of every CLI", async () => {
  expect(await checkDocs()).toEqual({ ok: true, said: "" });
  for (const name of cliNames) for (const { key } of fieldsOf(kits[name].cli)) expect(page).toContain(`| \`${key}\` |`);
});

test.concurrent("a page that differs is found", async () => {
  const path = join(folder, "settings.md");
  writeFileSync(path, other);
  expect(await checkDocs(path)).toEqual({ ok: false, said: expect.stringContaining("differ") });
});

test("a page that differs is corrected; one without the marks is an error", () => {
  const tables = settingsTables(cliNames.map((name) => kits[name]));
  expect(other).not.toBe(page);
  expect(between(other, "settings", tables)).toBe(page);
  expect(() => between("# nothing\n", "settings", tables)).toThrow("lacks the marks");
});

test("what all CLIs have is one row; what one has, or has otherwise, names it", () => {
  const [first, second] = cliNames.map((name) => ({ title: kits[name].title, cli: kits[name].cli }));
  const rows = settingsTables([first!, second!]).split("\n");
  const of = (key: string) => rows.filter((row) => row.startsWith(`| \`${key}\` |`));
  expect(of("graceSec")).toEqual([expect.not.stringContaining(`${first!.title}: `)]);
  expect(of("model")).toEqual([expect.stringContaining(`| ${first!.title}: `), expect.stringContaining(`| ${second!.title}: `)]);
  const [own] = Object.values(second!.cli.settings.own);
  expect(of(own!.key)).toEqual([expect.stringContaining(`| ${second!.title}: `)]);
});

test.each(cliNames)("the agent configuration doc of %s names each of its settings and no other's", (name) => {
  const { cli } = kits[name];
  const doc = configurationDoc(cli);
  const named = [...doc.matchAll(/^- ([\w.]+)/gm)].map(([, key]) => key);
  expect(named).toEqual(fieldsOf(cli).map((field) => field.key));
  expect(doc).toContain("- graceSec, default 60: ");
  expect(doc).toContain("- effort (also thinkingEffort, variant): ");
});
