import { expect, test } from "vitest";
import { loadCatalogue } from "./catalogue.ts";
import { type RunModels, usedProviders } from "./used-providers.ts";

const catalogue = (await loadCatalogue())!;
const SONNET = "anthropic/claude-sonnet-4-6";

function used(changes: Partial<Omit<RunModels, "names">> & { readonly names?: readonly string[] } = {}) {
  const run = { model: SONNET, extraArgs: [], settings: {}, ...changes, names: new Set(changes.names) };
  return usedProviders(run, catalogue);
}

test("only the model's provider", async () => {
  expect(await used()).toEqual(["anthropic"]);
  expect(await used({ names: ["PATH", "PAPERCLIP_API_KEY"] })).toEqual(["anthropic"]);
});

test("also those with a key in the environment", async () => {
  const ids = await used({ names: ["OPENAI_API_KEY", "GEMINI_API_KEY"] });
  expect(ids).toEqual(expect.arrayContaining(["anthropic", "openai", "google"]));
  expect(ids).not.toContain("groq");
});

test("also those that settings name: models of agents, commands, small models, providers", async () => {
  const settings = {
    small_model: "openai/gpt-5.4-mini",
    agent: { review: { model: "google/gemini-2.5-pro" } },
    command: { check: { model: "mistral/codestral-latest" } },
    provider: { groq: { options: { apiKey: "{env:KEY}" } }, mine: { npm: "@ai-sdk/openai-compatible" } },
  };
  expect([...(await used({ settings }))!].sort()).toEqual(["anthropic", "google", "groq", "mistral", "openai"]);
});

test("a provider of the user's own needs none, if it is complete", async () => {
  const model = "mine/large";
  expect(await used({ model, settings: { provider: { mine: { options: { baseURL: "http://llm" } } } } })).toEqual([]);
  expect(await used({ model, settings: { provider: { mine: { name: "Mine" } } } })).toBeNull();
  expect(await used({ model })).toBeNull();
});

test("a model that the settings choose is as good as the agent's", async () => {
  expect(await used({ model: null, settings: { model: SONNET } })).toEqual(["anthropic"]);
});

test.each([
  ["the CLI chooses the model", { model: null }],
  ["the catalogue lacks the model", { model: "anthropic/claude-next" }],
  ["the catalogue lacks a model of the settings", { settings: { agent: { a: { model: "anthropic/claude-next" } } } }],
  ["a model without a provider", { settings: { small_model: "haiku" } }],
  ["an inherited name is no model", { model: "anthropic/constructor" }],
  ["an inherited name is no provider", { model: "constructor/x" }],
  ["arguments name a model", { extraArgs: ["-m", "openai/gpt-4o"] }],
  ["arguments name a model in one word", { extraArgs: ["--model=openai/gpt-4o"] }],
  ...["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_AUTH_CONTENT", "OPENCODE_MODELS_PATH", "OPENCODE_MODELS_URL"].map(
    (name) => [`${name} names what is not seen`, { names: [name] }] as const,
  ),
] as const)("not certain: %s", async (_, changes) => {
  expect(await used(changes as Parameters<typeof used>[0])).toBeNull();
});

test("settings of any depth and size are looked through, or given up", async () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}{"model":"x/y"}${"}".repeat(5_000)}`);
  expect(await used({ settings: deep })).toBeNull();
});
