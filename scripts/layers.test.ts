import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Import rules are lint's business; this is about words: a lower layer that names a host or a CLI has a decision in the wrong place. */
test.each(["packages/runner/src", "packages/engine/src"])("%s knows no host and no CLI", (folder) => {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const text = readFileSync(join(root, folder, file), "utf8").replaceAll("@paperclip-k8s/", "");
    expect(text.match(/paperclip|opencode|claude/i)?.[0] ?? null, file).toBeNull();
  }
});
