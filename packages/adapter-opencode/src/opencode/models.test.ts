import { expect, test } from "vitest";
import { checkModel, models } from "./models.ts";

test.each([...models.map(({ id }) => id), "house/coder-1", "openrouter/anthropic/claude-sonnet-5", "ollama/qwen3:8b", "lmstudio/my model"])(
  "%s is provider/model",
  (model) => {
    expect(() => checkModel(model, "model")).not.toThrow();
  },
);

test.each([
  ["gpt-5.6", "openai/gpt-5.6"],
  ["claude-opus-5-5", "anthropic/claude-opus-5-5"],
  ["llama", "anthropic/claude-sonnet-5"],
  ["openai/", "anthropic/claude-sonnet-5"],
  ["/gpt-5.6", "anthropic/claude-sonnet-5"],
  ["my models/x", "anthropic/claude-sonnet-5"],
  ["--agent/x", "anthropic/claude-sonnet-5"],
])("%s is not, and the message has an example that is", (model, example) => {
  expect(() => checkModel(model, "model")).toThrow(`model: must be provider/model, such as ${example}, not ${JSON.stringify(model)}`);
});
