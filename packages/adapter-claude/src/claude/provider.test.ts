import { expect, test } from "vitest";
import { billing, isBedrockModel, usesBedrock } from "./provider.ts";

const run = (values: Record<string, string>, references: readonly string[] = []) => ({
  values,
  names: new Set([...Object.keys(values).filter((name) => values[name] !== ""), ...references]),
});

test.each<[string, Record<string, string>, string[], string, string]>([
  ["a key", { ANTHROPIC_API_KEY: "k" }, [], "anthropic", "api"],
  ["a key by reference", {}, ["ANTHROPIC_API_KEY"], "anthropic", "api"],
  ["a gateway's token", { ANTHROPIC_AUTH_TOKEN: "t" }, [], "anthropic", "api"],
  ["a subscription", { CLAUDE_CODE_OAUTH_TOKEN: "t", ANTHROPIC_API_KEY: "" }, [], "anthropic", "subscription"],
  ["a login in its own folder", {}, [], "anthropic", "subscription"],
  ["Bedrock", { CLAUDE_CODE_USE_BEDROCK: "1", ANTHROPIC_API_KEY: "k" }, [], "aws_bedrock", "metered_api"],
  ["Bedrock by its address", { ANTHROPIC_BEDROCK_BASE_URL: "https://x" }, [], "aws_bedrock", "metered_api"],
  ["Vertex", { CLAUDE_CODE_USE_VERTEX: "true" }, [], "google_vertex", "metered_api"],
])("who bills: %s", (_, values, references, biller, type) => {
  expect(billing(run(values, references))).toEqual({ provider: "anthropic", biller, type });
});

test("Bedrock is what the CLI takes for it", () => {
  expect(usesBedrock({ CLAUDE_CODE_USE_BEDROCK: "0" })).toBe(false);
  expect(usesBedrock({ CLAUDE_CODE_USE_BEDROCK: "TRUE" })).toBe(true);
});

test.each([
  ["us.anthropic.claude-opus-5-5", true],
  ["global.anthropic.claude-sonnet-5-v1:0", true],
  ["anthropic.claude-3-haiku-v1:0", true],
  ["arn:aws:bedrock:us-east-1:123:inference-profile/x", true],
  ["claude-opus-5-5", false],
  ["opus", false],
])("%s is a Bedrock id: %s", (id, is) => expect(isBedrockModel(id)).toBe(is));
