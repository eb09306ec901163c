import { expect, test } from "vitest";
import { keyChecks } from "./provider-key.ts";

const known = (names: string[], sources: string[] = []) => ({ values: {}, names: new Set(names), sources });
const codes = (...args: Parameters<typeof keyChecks>) => keyChecks(...args).map(({ level, code }) => `${level} ${code}`);

test("the model's provider decides which variable is looked for", () => {
  expect(codes("anthropic/claude-sonnet-5", known(["ANTHROPIC_API_KEY"]))).toEqual(["info provider_key_found"]);
  expect(codes("anthropic/claude-sonnet-5", known(["OPENAI_API_KEY"]))).toEqual(["warn provider_key_missing"]);
  expect(keyChecks("google/gemini-3", known([]))[0]?.hint).toContain("GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY");
});

test("no model named: any key will do", () => {
  expect(codes(null, known(["GROQ_API_KEY"]))).toEqual(["info provider_key_found"]);
  expect(codes(null, known([]))).toEqual(["warn provider_key_missing"]);
});

test("a whole Secret may hold it; unknown providers and the user's own are not checked", () => {
  expect(codes("openai/gpt-5.6", known([], ["Secret keys"]))).toEqual(["info provider_key_unknown"]);
  expect(codes("home-grown/m", known([]))).toEqual([]);
  expect(codes("openai/gpt-5.6", known(["PAPERCLIP_OPENCODE_PROVIDERS"]))).toEqual([]);
});
