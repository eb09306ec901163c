import { expect, test } from "vitest";
import { quietStart } from "./quiet-start.ts";

const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
const start = (values: Record<string, string>, maybeSet: readonly string[] = []) =>
  quietStart({ env: { values, names: new Set(Object.keys(values)) }, maybeSet: new Set(maybeSet) });

test.each([
  [{ ANTHROPIC_BASE_URL: "http://llm.example:8080" }],
  [{ ANTHROPIC_BASE_URL: "https://anthropic.com.example" }],
  [{ CLAUDE_CODE_USE_BEDROCK: "1" }],
  [{ CLAUDE_CODE_USE_VERTEX: "true" }],
  [{ CLAUDE_CODE_USE_FOUNDRY: "1" }],
])("nothing is asked of Anthropic with %j", (values) => {
  expect(start(values)).toEqual(QUIET);
});

test.each([
  [{}],
  [{ ANTHROPIC_BASE_URL: "https://api.anthropic.com" }],
  [{ ANTHROPIC_BASE_URL: "no address" }],
  [{ CLAUDE_CODE_USE_BEDROCK: "0" }],
])("its feature flags stay with %j", (values) => {
  expect(start(values)).toEqual({});
});

test.each(["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_ENABLE_TELEMETRY", "CLAUDE_CODE_OAUTH_TOKEN", "DISABLE_TELEMETRY"])(
  "who sets %s has decided",
  (name) => {
    const values = { ANTHROPIC_BASE_URL: "http://llm.example" };
    expect(start({ ...values, [name]: "" })).toEqual({});
    expect(start(values, [name])).toEqual({});
  },
);
