import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createListModels, parseModels } from "./discover-models.ts";
import { models } from "./models.ts";

const folder = mkdtempSync(join(tmpdir(), "models-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("what the CLI reports comes behind the static list, once a minute", async () => {
  const calls = join(folder, "calls");
  const command = join(folder, "opencode");
  const known = models[0]!.id;
  writeFileSync(command, `#!/bin/sh\necho x >> ${calls}\necho 'some chatter'\necho acme/one\necho acme/two:free\necho ${known}\n`);
  chmodSync(command, 0o755);
  let now = 0;
  const list = createListModels(command, () => now);
  const wanted = [...models, { id: "acme/one", label: "acme/one" }, { id: "acme/two:free", label: "acme/two:free" }];
  expect(await list()).toEqual(wanted);
  await list();
  expect(readFileSync(calls, "utf8")).toBe("x\n");
  now = 60_000;
  expect(await list()).toEqual(wanted);
  expect(readFileSync(calls, "utf8")).toBe("x\nx\n");
});

test("a server without the CLI shows the static list", async () => {
  expect(await createListModels(join(folder, "nothing"))()).toEqual(models);
});

test("only provider/model lines count", () => {
  expect(parseModels("a/b\n\nError: no\nhttps://x.y/z?q=1\na/b\nopenrouter/x/y-1.5:free\n")).toEqual(["a/b", "openrouter/x/y-1.5:free"]);
});
