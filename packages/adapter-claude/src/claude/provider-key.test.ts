import { expect, test } from "vitest";
import { keyChecks } from "./provider.ts";

const known = (values: Record<string, string>) => ({ values, names: new Set(Object.keys(values)), sources: [] });
const codes = (values: Record<string, string>) => keyChecks(known(values)).map(({ level, code }) => `${level} ${code}`);

test("a key, or a token of a subscription", () => {
  expect(codes({ ANTHROPIC_API_KEY: "x" })).toEqual(["info provider_key_found"]);
  expect(codes({ CLAUDE_CODE_OAUTH_TOKEN: "x" })).toEqual(["info provider_key_found"]);
  expect(codes({ OPENAI_API_KEY: "x" })).toEqual(["warn provider_key_missing"]);
});

test("on Bedrock and Vertex their own credentials are looked for", () => {
  expect(codes({ CLAUDE_CODE_USE_BEDROCK: "1", ANTHROPIC_API_KEY: "x" })).toEqual(["warn provider_key_missing"]);
  expect(codes({ CLAUDE_CODE_USE_BEDROCK: "1", AWS_ACCESS_KEY_ID: "x" })).toEqual(["info provider_key_found"]);
  expect(keyChecks(known({ CLAUDE_CODE_USE_VERTEX: "1" }))[0]?.message).toContain("Google Vertex");
});
