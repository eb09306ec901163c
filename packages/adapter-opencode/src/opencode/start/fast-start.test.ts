import { expect, test } from "vitest";
import { loadCatalogue } from "./catalogue.ts";
import { fastStart, type StartingRun } from "./fast-start.ts";
import { ourPlugin } from "./plugin.ts";

const FILE = "opencode-models.json";

function start(changes: Partial<StartingRun> = {}, env: Readonly<Record<string, string>> = {}) {
  const model = "anthropic/claude-sonnet-4-6";
  const run = { model, extraArgs: [], settings: {}, names: new Set(Object.keys(env)), values: env, promptBytes: 100, ...changes };
  return fastStart(run).then(({ defaults: [plugin, cut], ...rest }) => ({ ...rest, plugin: plugin!, cut: cut! }));
}

test("the file has the providers whole, and nothing else", async () => {
  const { files, cut } = await start();
  const given = JSON.parse(files[FILE]!);
  expect(Object.keys(given)).toEqual(["anthropic"]);
  expect(given.anthropic.models["claude-sonnet-4-6"]).toMatchObject({ cost: { input: 3, output: 15 }, limit: { context: 1_000_000 } });
  expect(cut.env).toEqual({
    OPENCODE_MODELS_PATH: { file: FILE },
    OPENCODE_DISABLE_MODELS_FETCH: "true",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "true",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "true",
  });
  expect(cut.unless).toEqual(expect.arrayContaining([".config/opencode", ".local/share/opencode/auth.json", "/etc/opencode"]));
});

test("an image's variables for other settings, or for another catalogue than ours, leave everything out", async () => {
  const own = ["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_AUTH_CONTENT"];
  expect((await start()).cut.unlessSet).toEqual([...own, "OPENCODE_MODELS_PATH", "OPENCODE_MODELS_URL"]);
  const known = await start({}, { OPENCODE_MODELS_URL: "http://models" });
  expect([known.files, known.cut.unlessSet]).toEqual([ourPlugin.files, own]);
});

test("runs of the same providers share one text", async () => {
  expect((await start()).files[FILE]).toBe((await start()).files[FILE]);
});

test("plugins stay where one of them serves a provider of the run", async () => {
  for (const changes of [{ model: "xai/grok-4.5" }, { names: new Set(["OPENAI_API_KEY"]) }])
    expect((await start(changes)).cut.env).not.toHaveProperty("OPENCODE_DISABLE_DEFAULT_PLUGINS");
});

test.each([
  ["the catalogue lacks the model", { model: "anthropic/claude-next" }, {}],
  ["the prompt needs the room", { promptBytes: 600 * 1024 }, {}],
  ["the environment needs the room", {}, { NOTES: "é".repeat(300 * 1024) }],
  ["the settings need the room", { settings: { instructions: ["x".repeat(600 * 1024)] } }, {}],
  ["all of them together need it", { promptBytes: 300 * 1024 }, { NOTES: "x".repeat(300 * 1024) }],
  ["somebody wants the newest catalogue", {}, { OPENCODE_DISABLE_MODELS_FETCH: "false" }],
])("nothing is cut: %s", async (_, changes, env) => {
  const { files, cut, plainEnv } = await start(changes, env);
  expect([files, Object.keys(cut.env)]).toEqual([ourPlugin.files, ["OPENCODE_DISABLE_LSP_DOWNLOAD"]]);
  expect(Object.keys(plainEnv)).toEqual(["OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER"]);
});

test("language servers can be downloaded where the settings name them", async () => {
  for (const lsp of [true, { typescript: {} }])
    expect((await start({ settings: { lsp } })).cut.env).not.toHaveProperty("OPENCODE_DISABLE_LSP_DOWNLOAD");
});

test("keys of many large providers: nothing is cut", async () => {
  const catalogue = (await loadCatalogue())!;
  const names = new Set(["openrouter", "vercel", "nano-gpt"].flatMap((id) => catalogue[id]!.env));
  expect((await start({ names })).files).toEqual(ourPlugin.files);
});

test("every provider fits by itself, except perhaps one that has hundreds of others' models", async () => {
  const tooLarge = Object.entries((await loadCatalogue())!).filter(([, { bytes }]) => bytes > 256 * 1024);
  expect(["nano-gpt"]).toEqual(expect.arrayContaining(tooLarge.map(([id]) => id)));
});

test("a variable that is set stays as it is", async () => {
  const env = {
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "false",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "false",
    OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: "false",
  };
  const { plainEnv, cut } = await start({}, env);
  expect([plainEnv, Object.keys(cut.env)]).toEqual([{}, ["OPENCODE_MODELS_PATH"]]);
});

test("our plugin is named by a file of settings of its own, and not where somebody names one", async () => {
  const { files, plugin } = await start({ settings: { plugin: ["my-plugin"] } });
  expect(JSON.parse(files["opencode-config.json"]!)).toMatchObject({ plugin: ["./opencode-plugin.mjs"] });
  expect(files["opencode-plugin.mjs"]).toContain("export{SubAgents}");
  expect(plugin.unless).not.toContain(".local/share/opencode/auth.json");
  expect(plugin.env).toMatchObject({ OPENCODE_CONFIG: { file: "opencode-config.json" } });
  expect((await start({}, { OPENCODE_CONFIG: "/own.json" })).plugin.env).not.toHaveProperty("OPENCODE_CONFIG");
});

test("the plugin package is not installed, unless the settings have plugins", async () => {
  expect(Object.keys((await start()).plugin.files)).toEqual([".config/opencode/node_modules/.keep", ".config/opencode/package-lock.json"]);
  expect((await start({ settings: { plugin: ["my-plugin"] } })).plugin.files).toEqual({});
});
