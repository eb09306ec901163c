import { expect, test } from "vitest";
import { nameRules } from "../../../paperclip/src/prepare/inherit/name-rules.ts";
import { variables } from "./variables.ts";

const decide = (inherit: "listed" | "all", names: string) => {
  const rules = nameRules({ inherit, inheritNames: [] }, variables, names.split(" "));
  return rules.names.map((name) => rules.decide(name));
};

test("keys of its providers and the host's settings for OpenCode are inherited", () => {
  const names =
    "ANTHROPIC_API_KEY ANTHROPIC_BASE_URL OPENAI_API_KEY OPENROUTER_API_KEY OPENCODE_API_KEY OPENCODE_BASE_URL PAPERCLIP_OPENCODE_PROVIDERS PAPERCLIP_OPENCODE_SMALL_MODEL";
  for (const decision of decide("listed", names)) expect(decision).toBe("take");
});

test("the server's own folders are not", () => {
  for (const decision of decide("all", "PAPERCLIP_OPENCODE_STORAGE_DIR CLAUDE_HOME CLAUDE_CONFIG_DIR"))
    expect(decision).toMatchObject({ kind: "setting" });
});
