import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createListModels, parseModels } from "./discover-models.ts";
import { models } from "./models.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "models-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

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

test("the CLI gets a home of its own, which is gone afterwards, and none of the server's secrets", async () => {
  const command = join(folder, "opencode");
  writeFileSync(command, `#!/bin/sh\nenv > ${folder}/env\npwd > ${folder}/cwd\nfind "$HOME" -type f > ${folder}/files\n`);
  chmodSync(command, 0o755);
  const secrets = { BETTER_AUTH_SECRET: "s", DATABASE_URL: "d", PAPERCLIP_AGENT_JWT_SECRET: "j", SOMETHING: "else", TMPDIR: folder };
  const wanted = { OPENAI_API_KEY: "o", HTTPS_PROXY: "http://proxy", OPENCODE_CONFIG_CONTENT: "{}" };
  for (const [name, value] of Object.entries({ ...secrets, ...wanted })) vi.stubEnv(name, value);
  await createListModels(command)();
  const env = readFileSync(join(folder, "env"), "utf8");
  for (const name of ["PATH", ...Object.keys(wanted)]) expect(env).toMatch(new RegExp(`^${name}=`, "m"));
  expect(env).not.toMatch(/^(BETTER_AUTH|DATABASE|PAPERCLIP_AGENT|SOMETHING|VITEST|XDG)/m);
  const home = readFileSync(join(folder, "cwd"), "utf8").trim();
  expect(env).toContain(`\nHOME=${home}\n`);
  expect(readFileSync(join(folder, "files"), "utf8")).not.toMatch(/\.(js|ts|json)$(?<!package-lock\.json)/m);
  expect(readdirSync(folder).sort()).toEqual(["cwd", "env", "files", "opencode"]);
});

test("only provider/model lines count", () => {
  expect(parseModels("a/b\n\nError: no\nhttps://x.y/z?q=1\na/b\nopenrouter/x/y-1.5:free\n")).toEqual(["a/b", "openrouter/x/y-1.5:free"]);
});
