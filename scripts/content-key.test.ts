import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { contentKey } from "./content-key.ts";

const root = mkdtempSync(join(tmpdir(), "packed-"));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test("packages are packed anew when a source, the build or a dependency changes, and not for a test or what a build leaves", () => {
  write("packages/a/src/index.ts", "1");
  write("packages/a/package.json", "{}");
  const keys = [contentKey(root)];
  const changes: readonly (readonly [string, string])[] = [
    ["packages/a/src/index.ts", "2"],
    ["packages/a/src/deep/other.ts", "1"],
    ["packages/a/package.json", "{ }"],
    ["package-lock.json", "{}"],
    ["scripts/build.ts", "1"],
  ];
  for (const [path, text] of changes) {
    write(path, text);
    keys.push(contentKey(root));
  }
  expect(new Set(keys).size).toBe(changes.length + 1);
  for (const path of ["src/index.test.ts", "dist/index.js", "generated/text.ts", "testing/kit.ts", "node_modules/x/index.js"]) {
    write(`packages/a/${path}`, "1");
    expect(contentKey(root), path).toBe(keys.at(-1));
  }
});
