import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adapters, cliNames, loadKits } from "../../packages/adapters.ts";
import { configurationDoc } from "../../packages/paperclip/src/settings/documents.ts";
import { fieldsOf } from "../../packages/paperclip/src/settings/schema.ts";
import { withSettings } from "./settings.ts";

const kits = await loadKits();
const first = kits[cliNames[0]].cli;
const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const other = readme.replace(/(\| `graceSec` \| [^|]+ \|) `60` \|/, "$1 `15` |");

/** What `npm run docs` says of the documents, or of one README. */
function checkDocs(...paths: string[]): Promise<{ ok: boolean; said: string }> {
  const args = [join(root, "scripts/generate-docs.ts"), "--check", ...paths];
  return new Promise((resolve) => execFile(process.execPath, args, (error, _, said) => resolve({ ok: error === null, said })));
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "docs-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.concurrent("the documents are as they are made, and show the settings of the schema", async () => {
  expect(await checkDocs()).toEqual({ ok: true, said: "" });
  for (const field of fieldsOf(first)) expect(readme).toContain(`| \`${field.key}\` |`);
  for (const name of cliNames.slice(1)) {
    const own = readFileSync(join(root, "packages", adapters[name].folder, "README.md"), "utf8");
    for (const field of fieldsOf(kits[name].cli)) expect(own).toContain(`| \`${field.key}\` |`);
  }
});

test.concurrent("a README that differs is found", async () => {
  const path = join(folder, "README.md");
  writeFileSync(path, other);
  expect(await checkDocs(path)).toEqual({ ok: false, said: expect.stringContaining("differ") });
});

test("a README that differs is corrected; one without the marks is an error", () => {
  expect(other).not.toBe(readme);
  expect(withSettings(other, first)).toBe(readme);
  expect(() => withSettings("# nothing\n", first)).toThrow("lacks the marks");
});

test.each(cliNames)("the agent configuration doc of %s names each of its settings and no other's", (name) => {
  const { cli } = kits[name];
  const doc = configurationDoc(cli);
  const named = [...doc.matchAll(/^- ([\w.]+)/gm)].map(([, key]) => key);
  expect(named).toEqual(fieldsOf(cli).map((field) => field.key));
  expect(doc).toContain("- graceSec, default 60: ");
  expect(doc).toContain("- effort (also thinkingEffort, variant): ");
});
