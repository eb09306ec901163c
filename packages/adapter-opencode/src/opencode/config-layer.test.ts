import { ConfigError } from "@paperclip-k8s/paperclip";
import { expect, test } from "vitest";
import { configLayer } from "./config-layer.ts";

const contentOf = (options: Parameters<typeof configLayer>[0]) => JSON.parse(configLayer(options).env.secret.OPENCODE_CONFIG_CONTENT!);

test("the settings of every run", () => {
  expect(contentOf({})).toEqual({
    autoupdate: false,
    share: "disabled",
    snapshot: false,
    permission: { external_directory: "allow" },
    provider: { opencode: { whitelist: [] } },
  });
  expect(configLayer().env.plain).toMatchObject({ OPENCODE_DISABLE_PROJECT_CONFIG: "true" });
  expect(configLayer().env.plain).not.toHaveProperty("OPENCODE_DISABLE_MODELS_FETCH");
});

test("permissions stay the user's when they are not to be skipped", () => {
  expect(contentOf({ dangerouslySkipPermissions: false })).not.toHaveProperty("permission");
});

test("the configured model is registered on its provider without losing what is known of either", () => {
  const PAPERCLIP_OPENCODE_PROVIDERS = JSON.stringify({ mine: { options: { apiKey: "{env:KEY}" }, models: { big: { name: "Big" } } } });
  const { provider } = contentOf({ model: "mine/new/model", env: { PAPERCLIP_OPENCODE_PROVIDERS } });
  expect(provider.mine).toEqual({ options: { apiKey: "{env:KEY}" }, models: { big: { name: "Big" }, "new/model": {} } });
  expect(contentOf({ model: "mine/big", env: { PAPERCLIP_OPENCODE_PROVIDERS } }).provider.mine.models).toEqual({ big: { name: "Big" } });
});

test("the free tier is off unless a model or a key asks for it", () => {
  expect(contentOf({ model: "opencode/free" }).provider.opencode).toEqual({ models: { free: {} } });
  expect(contentOf({ env: { PAPERCLIP_OPENCODE_SMALL_MODEL: "opencode/free" } })).toMatchObject({ small_model: "opencode/free" });
  expect(contentOf({ env: { OPENCODE_API_KEY: "k" } })).not.toHaveProperty("provider");
});

test("a config in the environment lies below ours", () => {
  const base = { permission: { bash: "deny", external_directory: "deny" }, share: "auto", theme: "x" };
  expect(contentOf({ env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(base) } })).toMatchObject({
    permission: { bash: "deny", external_directory: "allow" },
    share: "disabled",
    theme: "x",
  });
});

test.each(["{", "[]", '"text"'])("%s as providers is refused by name, without the text itself", (text) => {
  const make = () => configLayer({ env: { PAPERCLIP_OPENCODE_PROVIDERS: `${text}`, OPENCODE_CONFIG_CONTENT: "" } });
  expect(make).toThrow(ConfigError);
  expect(make).toThrow(/^PAPERCLIP_OPENCODE_PROVIDERS: (is not valid JSON|must be a JSON object)$/);
});
