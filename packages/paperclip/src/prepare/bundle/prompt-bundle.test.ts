import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import { parseConfig } from "../../settings/parse.ts";
import { exampleCli } from "../../testing/example-cli.ts";
import { hostContext } from "../../testing/host-context.ts";
import { OPEN_FILES } from "../../testing/test-policy.ts";
import { BUNDLE_KEPT_MS, MOST_BUNDLES, sweepBundles } from "../sweep/sweep-up.ts";
import { prepareBundle, writeBundle } from "./prompt-bundle.ts";

let data: string;
beforeEach(async () => {
  data = await realpath(await mkdtemp(join(tmpdir(), "bundle-")));
  await mkdir(join(data, "skills/fix/scripts"), { recursive: true });
  await writeFile(join(data, "skills/fix/SKILL.md"), "How to fix.\n");
  await writeFile(join(data, "skills/fix/scripts/fix.sh"), "#!/bin/sh\n", { mode: 0o700 });
  await writeFile(join(data, "skills/fix/picture.bin"), Buffer.from([0xff, 0x00, 0xfe]));
  await writeFile(join(data, "plain.md"), "Plain.\n");
  await writeFile(join(data, "AGENTS.md"), "Be brief.\n");
});
afterEach(() => rm(data, { recursive: true, force: true }));

const skill = (name: string, source: string) => ({ key: `acme/${name}`, runtimeName: name, source: join(data, source) });
const layout = { skills: ".cli/skills", instructions: "instructions.md" };

function prepare(desiredSkills: readonly string[], changes: Record<string, unknown> = {}, company = "company-1") {
  const config = {
    namespace: "agents",
    dataPath: data,
    instructionsFilePath: join(data, "AGENTS.md"),
    paperclipRuntimeSkills: [skill("fix", "skills/fix"), skill("plain", "plain.md"), skill("odd name/..", "plain.md"), skill("bare", ".")],
    paperclipSkillSync: { desiredSkills },
    ...changes,
  };
  const { ctx } = hostContext({ agent: "agent-1", company, config });
  const inherited = { claim: { mountPath: data } };
  return prepareBundle({ ctx, config: parseConfig(config, {}, exampleCli), policy: OPEN_FILES, cwd: data, inherited }, layout);
}

const mode = async (path: string) => (await stat(path)).mode & 0o777;

test("skills with all their files, and instructions; readable for all, writable for nobody", async () => {
  const bundle = await prepare(["fix", "plain", "odd name/.."]);
  const folder = join(data, "instances/default/data/prompt-bundles/company-1", bundle.key);
  expect(bundle).toMatchObject({ folder, instructionsFile: join(folder, "instructions.md"), warnings: [] });
  expect(await readdir(join(folder, ".cli/skills"))).toEqual(["fix", "odd-name-..", "plain"]);
  expect(await readFile(join(folder, ".cli/skills/plain/SKILL.md"), "utf8")).toBe("Plain.\n");
  expect(await readFile(join(folder, ".cli/skills/fix/picture.bin"))).toEqual(Buffer.from([0xff, 0x00, 0xfe]));
  expect(await readFile(join(folder, "instructions.md"), "utf8")).toMatch(/^Be brief\.\n\nThe instructions above were read from /);
  expect(await mode(join(folder, ".cli/skills/fix/scripts/fix.sh"))).toBe(0o555);
  expect(await mode(join(folder, "instructions.md"))).toBe(0o444);
  expect(await mode(join(folder, ".cli/skills"))).toBe(0o755);
});

test("the same content is written once, whoever writes it; other content has another key", async () => {
  const bundles = await Promise.all(Array.from({ length: 8 }, () => prepare(["fix", "plain"])));
  expect(new Set(bundles.map(({ key }) => key)).size).toBe(1);
  expect((await prepare(["plain", "fix"])).key).toBe(bundles[0]!.key);
  await chmod(join(data, "skills/fix/scripts/fix.sh"), 0o600);
  expect((await prepare(["fix", "plain"])).key).not.toBe(bundles[0]!.key);
  await writeFile(join(data, "AGENTS.md"), "Be briefer.\n");
  await prepare(["fix", "plain"]);
  expect(await readdir(join(data, "instances/default/data/prompt-bundles/company-1"))).toHaveLength(3);
});

test("nothing to say, nothing written", async () => {
  expect(await prepare([], { instructionsFilePath: "" })).toMatchObject({ key: "none", folder: null, instructionsFile: null });
  expect(await readdir(data)).not.toContain("instances");
});

test("what cannot be had is named and left out", async () => {
  const bundle = await prepare(["fix", "nowhere", "bare"], { instructionsFilePath: join(data, "gone.md") });
  expect(bundle.warnings).toEqual([
    expect.stringMatching(/gone\.md was not read/),
    expect.stringMatching(/skill "nowhere" is left out/),
    expect.stringMatching(/skill "acme\/bare" is left out: .* has no SKILL\.md/),
  ]);
  expect(bundle.instructionsFile).toBeNull();
});

test("links on the shared volume bring nothing of the server along", async () => {
  const outside = await mkdtemp(join(tmpdir(), "server-"));
  try {
    await writeFile(join(outside, "SKILL.md"), "the server's secret");
    await mkdir(join(data, ".example/skills/half"), { recursive: true });
    await symlink(outside, join(data, ".example/skills/whole"));
    await writeFile(join(data, ".example/skills/half/SKILL.md"), "Half.");
    await symlink(join(outside, "SKILL.md"), join(data, ".example/skills/half/secret.md"));
    await symlink(join(outside, "SKILL.md"), join(data, "skills/file"));
    const paperclipRuntimeSkills = [skill("file", "skills/file")];
    const bundle = await prepare(["whole", "half", "file"], { paperclipRuntimeSkills });
    expect(bundle.warnings).toEqual([
      expect.stringMatching(/skill "whole" is left out: .* leads out of/),
      expect.stringMatching(/skill "acme\/file" is left out: .* leads out of/),
    ]);
    expect(await readdir(join(bundle.folder!, ".cli/skills/half"))).toEqual(["SKILL.md"]);
  } finally {
    await rm(outside, { recursive: true, force: true });
  }
});

test("ids that cannot be path parts are refused", async () => {
  await expect(prepare(["fix"], {}, "../company")).rejects.toThrow(/companyId/);
});

test("a volume that is not there is named, and nothing is made in its place", async () => {
  const content = [{ path: "a/b", bytes: Buffer.from("x"), executable: false }];
  const nowhere = { root: join(data, "nowhere"), folder: join(data, "nowhere/bundles"), key: "k" };
  const write = writeBundle(nowhere, content, 0);
  await expect(write).rejects.toThrow(UnusableVolume);
  await expect(write).rejects.toThrow(`cannot be written to ${nowhere.folder}`);
  expect(await readdir(data)).not.toContain("nowhere");
});

test("unused ones are collected, never one that a run may need, at most once an hour", async () => {
  const folder = join(data, "bundles");
  const now = Date.now();
  const write = (key: string, usedUntil: number) =>
    writeBundle({ root: data, folder, key }, [{ path: "f", bytes: Buffer.from("x"), executable: false }], usedUntil);
  const old = new Date(now - BUNDLE_KEPT_MS - 60_000);
  for (const key of ["old", "running", "recent"]) await write(key, now);
  await utimes(join(folder, "old"), old, old);
  await utimes(join(folder, "recent"), old, new Date(now - BUNDLE_KEPT_MS + 60_000));
  await write("running", now + 400 * 24 * 3_600_000);
  await write("running", now);
  await mkdir(join(folder, ".part-dead"));
  await utimes(join(folder, ".part-dead"), old, old);
  expect([...(await sweepBundles({ root: data, folder }, now)).removed].sort()).toEqual([".part-dead", "old"]);
  expect((await readdir(folder)).sort()).toEqual(["recent", "running"]);
  expect((await sweepBundles({ root: data, folder }, now + 3_599_000)).removed).toEqual([]);
  expect((await sweepBundles({ root: data, folder }, now + 300 * 24 * 3_600_000)).removed).toEqual(["recent"]);
});

test("of very many, those that were not used for longest go after a day", async () => {
  const folder = join(data, "bundles");
  const now = Date.now();
  for (let index = 0; index < MOST_BUNDLES + 3; index++) {
    const path = join(folder, `bundle-${index}`);
    await mkdir(path, { recursive: true });
    const usedAt = new Date(now - (index > MOST_BUNDLES ? 2 : 0.5) * 24 * 3_600_000 - index);
    await utimes(path, usedAt, usedAt);
  }
  expect([...(await sweepBundles({ root: data, folder }, now)).removed].sort()).toEqual([
    `bundle-${MOST_BUNDLES + 1}`,
    `bundle-${MOST_BUNDLES + 2}`,
  ]);
});
