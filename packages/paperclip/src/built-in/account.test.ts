import { expect, test } from "vitest";
import { accountOf, withoutAccountFolders } from "./account.ts";

const home = "/tmp/paperclip-ai-1";
const env = { HOME: home, XDG_DATA_HOME: `${home}/data`, CLI_HOME: `${home}/provider`, KEY: "k", OTHER_KEY: "", NEAR: `${home}0` };
const managedAiConnection = { method: "subscription", identity: "i" };

test("the account's key and the blanks beside it stay, the host's mark and the folders of its own disk do not", () => {
  const raw = { env, model: "m", managedAiConnection };
  expect(withoutAccountFolders(raw)).toEqual({ model: "m", env: { KEY: "k", OTHER_KEY: "", NEAR: `${home}0` } });
  expect(accountOf(raw)).toBe("subscription");
});

test("variables as they are stored: plain ones are read, others are left to the parser, which names them", () => {
  const secret = { type: "secret_ref", secretId: "s" };
  const raw = { env: { HOME: home, PROXY: { type: "plain", value: "p" }, SECRET: secret }, managedAiConnection };
  expect(withoutAccountFolders(raw)).toEqual({ env: { PROXY: "p", SECRET: secret } });
});

test.each([{}, { env: "x" }, { env: { KEY: "k" } }, { env: { HOME: 1 } }])("an env without folders is left alone: %j", (raw) =>
  expect(withoutAccountFolders({ ...raw, managedAiConnection })).toEqual(raw),
);

test.each([undefined, "subscription", { method: 1 }, []])("an agent's own %j is no account", (managedAiConnection) => {
  const raw = { env, managedAiConnection };
  expect(withoutAccountFolders(raw)).toBe(raw);
  expect(accountOf(raw)).toBeNull();
});
