import { githubBrokerEnvironment } from "@paperclipai/adapter-utils/github-launcher";
import { expect, test } from "vitest";
import { setByHost } from "./set-by-host.ts";

const launcher = "/tmp/paperclip-github-runtime/run-1";
const serverEnv = { PATH: "/usr/bin", GH_TOKEN: "the server's" };

function own(env: Record<string, string>, account: readonly string[] | null = null): string[] {
  const isSetByHost = setByHost({ env, serverEnv, hasAccount: account !== null, accountVariables: account ?? [] });
  return Object.keys(env).filter((name) => !isSetByHost(name) && !name.startsWith("PAPERCLIP_"));
}

/** A run's env with a GitHub connection, as the published host makes it; its launchers' folder comes after that. */
const withGitHub = (env: Record<string, string> = {}): Record<string, string> => ({
  ...(githubBrokerEnvironment(env, { url: "http://127.0.0.1:1", token: "t" }) as Record<string, string>),
  PATH: `${launcher}:/usr/bin`,
  ZDOTDIR: launcher,
  BASH_ENV: `${launcher}/.bashrc`,
  PAPERCLIP_GITHUB_LAUNCHER_DIR: launcher,
});

test("whatever the host sets for a managed GitHub connection is its own", () => {
  expect(own(withGitHub())).toEqual([]);
  expect(own(withGitHub({ GIT_CONFIG_KEY_0: "core.editor", GIT_CONFIG_VALUE_0: "vi" }))).toEqual([]);
});

test("an agent's own settings stay its own beside them", () => {
  const more = { NODE_OPTIONS: "--require=/x", GIT_SSH_COMMAND: "/evil", GIT_CONFIG_GLOBAL: "/evil", BASH_ENV: "/evil", HTTPS_PROXY: "" };
  expect(own({ ...withGitHub(), ...more }).sort()).toEqual(Object.keys(more).sort());
  expect(own({ ...withGitHub(), PATH: `${launcher}:/mine` })).toEqual(["PATH"]);
  expect(own({ GIT_CONFIG_GLOBAL: "/dev/null", GH_TOKEN: "" })).toEqual(["GIT_CONFIG_GLOBAL", "GH_TOKEN"]);
});

test("the server's own tokens, which the host adds to every agent's env", () => {
  expect(own({ GH_TOKEN: "the server's", GITHUB_TOKEN: "mine" })).toEqual(["GITHUB_TOKEN"]);
});

test("an account's key and the blanks beside it, only where there is an account", () => {
  const env = {
    ACME_API_KEY: "k",
    OTHER_API_KEY: "",
    OTHER_BASE_URL: "",
    ACME_CODE_USE_CLOUD: "",
    AWS_PROFILE: "",
    ACME_DEFAULT_SMALL_MODEL: "",
    OTHER_AUTH_TOKEN: "mine",
    HTTPS_PROXY: "",
  };
  expect(own(env, ["ACME_API_KEY"])).toEqual(["OTHER_AUTH_TOKEN", "HTTPS_PROXY"]);
  expect(own(env)).toEqual(Object.keys(env));
});
