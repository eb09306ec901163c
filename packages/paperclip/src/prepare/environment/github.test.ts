import { expect, test } from "vitest";
import { githubAccess } from "./github.ts";

const managed = { PAPERCLIP_GITHUB_LAUNCHER_DIR: "/tmp/paperclip-github-runtime/run-1", PAPERCLIP_GITHUB_BROKER_TOKEN: "capability" };

test("a run whose git the host manages gets the host's own launcher, under two names, and shows its capability", async () => {
  const access = await githubAccess(managed);
  expect(access).toMatchObject({
    programs: { git: { file: "github-launcher.cjs" }, gh: { file: "github-launcher.cjs" } },
    headers: { "x-paperclip-github-capability": "capability" },
  });
  const text = access?.files["github-launcher.cjs"] ?? "";
  expect(text).toMatch(/^#!.*node\n/);
  // What the relay replaces and what the launcher sends must be the same header, and it must find the relay without a variable of its own.
  for (const part of Object.keys(access?.headers ?? {})) expect(text).toContain(part);
  expect(text).toContain("env.PAPERCLIP_GITHUB_BROKER_URL || env.PAPERCLIP_API_URL");
});

test("without a capability the launchers are there, as on the host, and say so themselves", async () => {
  expect(await githubAccess({ ...managed, PAPERCLIP_GITHUB_BROKER_TOKEN: "" })).toMatchObject({ headers: {} });
});

test.each<Record<string, string>>([
  {},
  { PAPERCLIP_GITHUB_AUTH_MODE: "host", GH_TOKEN: "given" },
  { PAPERCLIP_GITHUB_BROKER_TOKEN: "capability" },
])("a run with a login of its own, or none, has the image's git: %j", async (env) => expect(await githubAccess(env)).toBeNull());
