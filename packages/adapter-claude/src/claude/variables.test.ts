import { expect, test } from "vitest";
import { nameRules } from "../../../paperclip/src/prepare/inherit/name-rules.ts";
import { variables } from "./variables.ts";

const decide = (inherit: "listed" | "all", names: string) => {
  const rules = nameRules({ inherit, inheritNames: [] }, variables, names.split(" "));
  return rules.names.map((name) => rules.decide(name));
};

test("what Claude Code needs for its provider is inherited", () => {
  const names =
    "ANTHROPIC_API_KEY ANTHROPIC_BASE_URL CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_SKIP_BEDROCK_AUTH CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC";
  for (const decision of decide("listed", names)) expect(decision).toBe("take");
});

test("the server's own folders and settings for other CLIs are not", () => {
  const names = "CLAUDE_HOME CLAUDE_CONFIG_DIR PAPERCLIP_OPENCODE_PROVIDERS PAPERCLIP_OPENCODE_STORAGE_DIR";
  for (const decision of decide("all", names)) expect(decision).toMatchObject({ kind: "setting" });
});

test("no run believes that it is inside another Claude Code", () => {
  expect(variables.removed).toEqual(
    expect.arrayContaining(["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION", "CLAUDE_CODE_PARENT_SESSION"]),
  );
});
