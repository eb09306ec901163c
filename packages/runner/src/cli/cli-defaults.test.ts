import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import type { CliDefaults } from "../records.ts";
import { cleanUp, node, runPod } from "../testing/runner-fixture.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "defaults-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
afterAll(cleanUp);

const defaults: CliDefaults = {
  unless: [".config/cli", "/etc/no-such-folder"],
  env: { CLI_FAST: "default", CLI_SET: "default" },
  files: { ".config/cli/deep/file": "text" },
};

async function seenBy(given: CliDefaults | readonly CliDefaults[], env: Record<string, string> = {}) {
  const argv = node("process.stdout.write(JSON.stringify([process.env.CLI_FAST, process.env.CLI_SET]))");
  const ended = await runPod({ argv, spec: { defaults: [given].flat(), env: { HOME: home, ...env } } });
  return { code: ended.code, values: ended.code === 0 ? JSON.parse(ended.stdout.toString()) : null, message: ended.message };
}

test("a CLI without settings of its own gets its defaults, but no variable that is set already", async () => {
  expect((await seenBy(defaults, { CLI_SET: "own" })).values).toEqual(["default", "own"]);
  expect(readFileSync(join(home, ".config/cli/deep/file"), "utf8")).toBe("text");
});

test("one with settings of its own, in its home or in the image, gets nothing", async () => {
  mkdirSync(join(home, ".config/cli"), { recursive: true });
  expect((await seenBy(defaults)).values).toEqual([null, null]);
  expect(existsSync(join(home, ".config/cli/deep"))).toBe(false);
  expect((await seenBy({ ...defaults, unless: ["/etc"] })).values).toEqual([null, null]);
});

test("one whose image names settings elsewhere by a variable gets nothing", async () => {
  const given = { ...defaults, unlessSet: ["CLI_CONFIG"] };
  expect((await seenBy(given, { CLI_CONFIG: "/image/cli.json" })).values).toEqual([null, null]);
  expect(existsSync(join(home, ".config"))).toBe(false);
  expect((await seenBy(given, { CLI_OTHER: "1" })).values).toEqual(["default", "default"]);
});

test("each of several has a condition of its own, and what one writes is no setting for another", async () => {
  const { CLI_SET } = defaults.env;
  const other = { unless: [".config"], env: { CLI_SET: CLI_SET! }, files: {} };
  const first = { ...defaults, env: { CLI_FAST: "default" } };
  expect((await seenBy([first, other])).values).toEqual(["default", "default"]);
  expect(
    (
      await seenBy([
        { ...first, unless: ["/etc"] },
        { ...other, unless: [] },
      ])
    ).values,
  ).toEqual([null, "default"]);
});

test("a home that cannot be written to does not keep the CLI from starting", async () => {
  writeFileSync(join(home, ".config"), "a file where a folder would be");
  expect((await seenBy(defaults)).values).toEqual(["default", "default"]);
});

test("a variable may be the path of a file beside the spec", async () => {
  const ended = await seenBy({ ...defaults, env: { CLI_FAST: { file: "spec.json" } } });
  expect(ended.values[0]).toMatch(/\/in\/(.*\/)?spec\.json$/);
});

test("a file outside of the home is refused", async () => {
  const ended = await seenBy({ ...defaults, files: { "../outside": "" } });
  expect(ended).toMatchObject({ code: 212, message: { error: "the spec's defaults.files are not paths below the home" } });
});
