import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { configurationDoc } from "./configuration-doc.ts";
import { CLAUDE, OPENCODE } from "./fields/adapters.ts";
import { fieldsOf } from "./schema.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const generate = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, "scripts/generate-docs.ts"), ...args], { encoding: "utf8" });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "docs-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the README shows the settings of the schema", () => {
  expect(generate("--check")).toMatchObject({ status: 0, stderr: "" });
  const readme = readFileSync(join(root, "README.md"), "utf8");
  for (const field of fieldsOf(OPENCODE)) expect(readme).toContain(`| \`${field.key}\` |`);
  const claude = readFileSync(join(root, "packages/adapter-claude/README.md"), "utf8");
  for (const field of fieldsOf(CLAUDE)) expect(claude).toContain(`| \`${field.key}\` |`);
});

test("a README that differs is found and mended", () => {
  const path = join(folder, "README.md");
  const readme = readFileSync(join(root, "README.md"), "utf8");
  writeFileSync(path, readme.replace("| `graceSec` | `60` |", "| `graceSec` | `15` |"));
  expect(generate("--check", path)).toMatchObject({ status: 1, stderr: expect.stringContaining("differ") });
  expect(generate(path).status).toBe(0);
  expect(readFileSync(path, "utf8")).toBe(readme);
});

test("a README without the marks is an error", () => {
  const path = join(folder, "EMPTY.md");
  writeFileSync(path, "# nothing\n");
  expect(generate(path)).toMatchObject({ status: 1, stderr: expect.stringContaining("lacks the marks") });
});

test.each([OPENCODE, CLAUDE])("the agent configuration doc of %s names each of its settings and no other's", (type) => {
  const doc = configurationDoc({ type, label: "A label", container: "cli" });
  const named = [...doc.matchAll(/^- ([\w.]+)/gm)].map(([, key]) => key);
  expect(named).toEqual(fieldsOf(type).map((field) => field.key));
  expect(doc).toContain("- graceSec, default 60: ");
  expect(doc).toContain("- effort (also thinkingEffort, variant): ");
});
