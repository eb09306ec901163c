import { expect, test } from "vitest";
import { withoutHostDisk } from "./host-disk.ts";

const scratch = "/tmp/paperclip-run-1";
const launcher = "/tmp/paperclip-github-runtime/run-1";
const git = { SSH_AUTH_SOCK: "/run/ssh.sock", GIT_CONFIG_GLOBAL: "/data/.gitconfig", GITHUB_TOKEN: "the server's" };
const serverEnv = { HOME: "/srv/home", PATH: "/srv/bin:/usr/bin", ...git };

const clean = (env: Record<string, string>, context: Record<string, unknown> = {}) =>
  withoutHostDisk({ env, context, serverEnv, isMounted: (path) => path.startsWith("/data/") });

test.each<[string, Record<string, string>, Record<string, unknown>, Record<string, string>]>([
  [
    "scratch folders of 2026.824",
    {
      PAPERCLIP_RUN_SCRATCH_DIR: scratch,
      PAPERCLIP_TASK_SCRATCH_DIR: scratch,
      PAPERCLIP_SCRATCH_DIR: scratch,
      PAPERCLIP_TMPDIR: scratch,
      TMPDIR: scratch,
      TMP: scratch,
      TEMP: scratch,
      KEY: "1",
    },
    { paperclipScratch: { dir: scratch, tempKeysApplied: ["TMPDIR", "TEMP", "TMP"] } },
    { KEY: "1" },
  ],
  [
    "scratch folders known by name only",
    { TMPDIR: scratch, TMP: "/mine" },
    { paperclipScratch: { tempKeysApplied: ["TMPDIR"] } },
    { TMP: "/mine" },
  ],
  [
    "a user's own temporary folder",
    { TMPDIR: "/mine" },
    { paperclipScratch: { dir: scratch, tempKeysApplied: ["TMP"] } },
    { TMPDIR: "/mine" },
  ],
  [
    "GitHub by the server's login (2026.916)",
    {
      GH_CONFIG_DIR: "/srv/home/.config/gh",
      PAPERCLIP_GITHUB_HOST_HOME: "/srv/home",
      PAPERCLIP_GITHUB_AUTH_MODE: "host",
      PAPERCLIP_GIT_METADATA_ROOTS: "[]",
      PAPERCLIP_RUNNER_NETWORK_ROOTS: "[]",
      PAPERCLIP_RUNNER_NETWORK_ACCESS: "enabled",
      SSH_AUTH_SOCK: "/run/ssh.sock",
      GIT_CONFIG_GLOBAL: "/data/.gitconfig",
      GH_TOKEN: "given",
      GITHUB_TOKEN: "the server's",
    },
    {},
    { GIT_CONFIG_GLOBAL: "/data/.gitconfig", GH_TOKEN: "given" },
  ],
  [
    "GitHub by the host's launchers (2026.916)",
    {
      PAPERCLIP_GITHUB_LAUNCHER_DIR: launcher,
      PATH: `${launcher}:/srv/bin:/usr/bin`,
      ZDOTDIR: launcher,
      BASH_ENV: `${launcher}/.bashrc`,
      GH_CONFIG_DIR: `${launcher}/gh-config`,
      PAPERCLIP_GITHUB_AUTH_MODE: "managed",
      PAPERCLIP_GITHUB_BROKER_URL: "http://server:3100",
      PAPERCLIP_GITHUB_BROKER_TOKEN: "capability",
      GIT_CONFIG_GLOBAL: "/dev/null",
      SSH_AUTH_SOCK: "",
      GH_TOKEN: "",
    },
    {},
    { PAPERCLIP_GITHUB_BROKER_TOKEN: "capability", GIT_CONFIG_GLOBAL: "/dev/null", SSH_AUTH_SOCK: "", GH_TOKEN: "" },
  ],
  [
    "a user's PATH behind the launchers",
    { PAPERCLIP_GITHUB_LAUNCHER_DIR: launcher, PATH: `${launcher}:/opt/mine` },
    {},
    { PATH: "/opt/mine" },
  ],
  [
    "a user's own settings of the same names",
    { PATH: "/opt/mine", GH_CONFIG_DIR: "/data/gh", BASH_ENV: "/data/rc", SSH_AUTH_SOCK: "/data/agent.sock", ZDOTDIR: "/data/z" },
    {},
    { PATH: "/opt/mine", GH_CONFIG_DIR: "/data/gh", BASH_ENV: "/data/rc", SSH_AUTH_SOCK: "/data/agent.sock", ZDOTDIR: "/data/z" },
  ],
])("%s", (_, env, context, kept) => expect(clean(env, context)).toEqual(kept));

test("a folder of a million slashes does not keep the server busy", () => {
  const slashes = `${"/".repeat(1_000_000)}x`;
  expect(clean({ PAPERCLIP_GITHUB_LAUNCHER_DIR: slashes, BASH_ENV: "/mine" })).toEqual({ BASH_ENV: "/mine" });
});
