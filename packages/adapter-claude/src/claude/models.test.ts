import { startLlm } from "@paperclip-k8s/llm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bedrockModels, checkModel, createListModels, models } from "./models.ts";
import { isBedrockModel } from "./provider.ts";

let llm: Awaited<ReturnType<typeof startLlm>>;
beforeAll(async () => {
  llm = await startLlm();
});
afterAll(() => llm.stop());

test("without a key the static list, with one what the API reports behind it, asked once a minute", async () => {
  expect(await createListModels()({})).toEqual(models);
  const list = createListModels();
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: `${llm.url}/` };
  expect(await list(env)).toEqual([...models, { id: "scripted", label: "Scripted" }]);
  await list(env);
  expect(llm.requests.map(({ path, apiKey }) => ({ path, apiKey }))).toEqual([{ path: "/v1/models", apiKey: "k" }]);
});

test("an API that does not answer leaves the static list", async () => {
  expect(await createListModels()({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" })).toEqual(models);
});

test("Bedrock has its own ids", async () => {
  expect(await createListModels()({ CLAUDE_CODE_USE_BEDROCK: "1", ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: llm.url })).toEqual(
    bedrockModels,
  );
  expect(bedrockModels.filter(({ id }) => !isBedrockModel(id))).toEqual([]);
});

test("the lists have what the earlier adapters' lists had, as far as the CLI knows it", () => {
  const ids = (list: typeof models) => list.map(({ id }) => id);
  expect(ids(models)).toEqual(expect.arrayContaining(["claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6"]));
  expect(ids(bedrockModels)).toEqual(
    expect.arrayContaining([
      ...["us.anthropic.claude-opus-4-7", "us.anthropic.claude-opus-4-6-v1", "us.anthropic.claude-sonnet-4-6"],
      ...["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ]),
  );
  for (const list of [models, bedrockModels]) expect(new Set(ids(list)).size).toBe(list.length);
});

test.each([...models, ...bedrockModels].map(({ id }) => id).concat("sonnet", "opus[1m]", "anthropic/claude-sonnet-5", "gpt-5.6"))(
  "%s may be a model: a gateway can have any name",
  (model) => {
    expect(() => checkModel(model, "model")).not.toThrow();
  },
);

test.each(["opus 5", "--effort", "claude-opus-5-5\tfast"])("%j is none", (model) => {
  expect(() => checkModel(model, "model")).toThrow(/^model: must be one name without spaces, such as claude-opus-5-5 or sonnet, not /);
});
