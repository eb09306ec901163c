// The real CLI with our config layer: what the description in this folder claims about it.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultText, startLlm } from "@paperclip-k8s/llm";
import { type CliRun, runCli } from "@paperclip-k8s/llm/run-cli";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { argv } from "./argv.ts";
import { configLayer, noPluginInstall } from "./config-layer.ts";
import { createParser } from "./parse.ts";

const cli = fileURLToPath(new URL("../../../../node_modules/.bin/opencode", import.meta.url));
let llm: Awaited<ReturnType<typeof startLlm>>;
let home: string;

beforeAll(async () => {
  llm = await startLlm();
  home = mkdtempSync(join(tmpdir(), "opencode-test-"));
  mkdirSync(join(home, ".config/opencode/node_modules"), { recursive: true });
  mkdirSync(join(home, "work"));
  for (const [path, text] of Object.entries(noPluginInstall)) writeFileSync(join(home, ".config/opencode", path), text);
  writeFileSync(
    join(home, ".config/opencode/opencode.json"),
    JSON.stringify({ username: "of-the-user", share: "auto", disabled_providers: ["groq"] }),
  );
  writeFileSync(join(home, "work/opencode.json"), JSON.stringify({ username: "of-the-project", permission: { bash: "deny" } }));
});
afterAll(async () => {
  await llm.stop();
  rmSync(home, { recursive: true, force: true });
});

function run(args: readonly string[], stdin: string): Promise<CliRun> {
  const { model, provider } = scriptedModel(llm, { apiKey: "{env:SCRIPTED_KEY}", name: null });
  const own = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    TMPDIR: home,
    SCRIPTED_KEY: "key with $ and $(X)",
    ...provider,
  };
  const layer = configLayer({ model, env: own });
  const env = { ...own, OPENCODE_DISABLE_MODELS_FETCH: "true", ...layer.env.plain, ...layer.env.secret };
  return runCli({ command: cli, args, cwd: join(home, "work"), env, stdin });
}

test("our layer lies over the user's config, and the project's is not read", async () => {
  const config = JSON.parse((await run(["debug", "config"], "")).stdout);
  expect(config).toMatchObject({
    username: "of-the-user",
    disabled_providers: ["groq"],
    share: "disabled",
    autoupdate: false,
    snapshot: false,
  });
  expect(config.permission).toEqual({ external_directory: "allow" });
});

test("the prompt reaches the model from stdin as it is, with the key from the environment, and nothing is installed", async () => {
  const prompt = `use-tool $(X) $$ \\ "quoted" 'single' \`id\` {env:HOME} é🙂\r\n${"long ".repeat(20_000)}\n\nend  \n`;
  const [, ...args] = argv({ model: "scripted/unlisted" });
  const before = llm.requests.length;
  const { exitCode: code, stdout, stderr } = await run(args, prompt);
  const parser = createParser();
  const kinds = stdout.split("\n").flatMap((line) => parser.push(line).map(({ kind }) => kind));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(parser.result()).toMatchObject({ lastText: defaultText, steps: 2, tokens: { cacheRead: 1600 } });
  expect(kinds.filter((kind) => kind === "tool_call")).toHaveLength(1);
  // An event of an unknown type would be a status line.
  expect(kinds).not.toContain("status");
  const turns = llm.requests.slice(before).filter(({ tools }) => tools > 0);
  expect(turns).toHaveLength(2);
  expect(turns[0]).toMatchObject({ model: "unlisted", apiKey: "key with $ and $(X)", stream: true });
  expect(turns[0]!.userTexts.at(-1) === prompt).toBe(true);
  expect(readdirSync(home)).not.toContain(".npm");
});
