import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AdapterSkillContext, AdapterSkillSnapshot } from "@paperclipai/adapter-utils";
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import type { SkillContext, SkillSnapshot } from "../../host/types.ts";
import { DEFAULT_POLICY } from "../../policy/policy.ts";
import { ANYWHERE } from "../../testing/test-policy.ts";
import { ServerFiles } from "../prompt/server-files.ts";
import { readSkills } from "./read-skills.ts";
import { listSkills, syncSkills } from "./snapshot.ts";

let data: string;
let runtimeSkills: Record<string, unknown>[];

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "skills-"));
  for (const folder of ["skills/fix", "skills/empty", "skills/bare", ".example/skills/own", ".example/skills/fix"])
    await mkdir(join(data, folder), { recursive: true });
  await writeFile(join(data, "skills/fix/SKILL.md"), "How to fix.\n");
  await writeFile(join(data, "skills/bare/other.md"), "x");
  await writeFile(join(data, "skills/empty/SKILL.md"), " \n");
  await writeFile(join(data, "skills/plain.md"), "Plain.\n");
  await writeFile(join(data, ".example/skills/own/SKILL.md"), "Own.");
  await writeFile(join(data, ".example/skills/fix/SKILL.md"), "Hidden by the host's.");
  await writeFile(join(data, ".example/skills/note.md"), "Note.");
  const entry = (name: string, more = {}) => ({ key: `acme/${name}`, runtimeName: name, source: join(data, "skills", name), ...more });
  runtimeSkills = [
    entry("fix"),
    entry("plain", { source: join(data, "skills/plain.md") }),
    entry("bare"),
    entry("empty"),
    entry("gone"),
    entry("lost", { sourceStatus: "missing", missingDetail: "Deleted last week." }),
  ];
});
afterAll(() => rm(data, { recursive: true, force: true }));

const config = (desiredSkills?: unknown[], entries = runtimeSkills) => ({
  paperclipRuntimeSkills: entries,
  ...(desiredSkills === undefined ? {} : { paperclipSkillSync: { desiredSkills } }),
});
const places = (dataPath = data) => ({ dataPath, skillsFolder: join(dataPath, ".example/skills") });
const checked = (dataPath?: string) => ({ config: places(dataPath), policy: DEFAULT_POLICY });
const read = (desired?: unknown[]) => readSkills(config(desired), places(), new ServerFiles([data], ANYWHERE));

test.each<[string, unknown[] | undefined, string[], string[]]>([
  ["none without a choice", undefined, [], []],
  ["none chosen", [], [], []],
  ["a folder with SKILL.md, by key", ["acme/fix"], ["How to fix."], []],
  ["by name, in any case, once", ["Fix", "acme/fix", { key: "FIX" }], ["How to fix."], []],
  ["a file", ["plain"], ["Plain."], []],
  ["people's own, as a folder and as a file", ["own", "note"], ["Own.", "Note."], []],
  ["in the order of the choice", ["plain", "own", "fix"], ["Plain.", "Own.", "How to fix."], []],
  ["not there", ["nowhere", "fix"], ["How to fix."], ['skill "nowhere" is left out: it is not among the company\'s skills']],
  ["missing by the host's word", ["lost"], [], ['skill "acme/lost" is left out: Deleted last week.']],
])("skills: %s", async (_, desired, texts, warnings) => {
  const skills = await read(desired);
  expect(skills.warnings).toEqual(warnings);
  expect(skills.text === "" ? [] : skills.text.split("\n\n---\n\n").map((text) => text.replace(/^Skill "[^"]+" .*:\n\n/, ""))).toEqual(
    texts,
  );
  expect(skills.notes).toHaveLength(texts.length === 0 ? 0 : 1);
});

test.each([
  ["bare", /skills\/bare was not read \(SKILL\.md: no such file\)$/],
  ["empty", /skills\/empty is empty$/],
  ["gone", /skills\/gone was not read \(no such file\)$/],
])("skill %s cannot be read: named, with the reason", async (name, reason) => {
  const skills = await read([name, "fix"]);
  expect(skills.warnings).toEqual([expect.stringMatching(reason)]);
  expect(skills.warnings[0]).toMatch(new RegExp(`^skill "acme/${name}" is left out: `));
  expect(skills.text).toContain("How to fix.");
});

test("each text says where its own files are, if a pod can find them there", async () => {
  expect((await read(["fix"])).text).toBe(`Skill "acme/fix" (its own files are in ${data}/skills/fix):\n\nHow to fix.`);
  const elsewhere = await readSkills(config(["fix"]), places(join(data, "volume")), new ServerFiles([join(data, "volume")], ANYWHERE));
  expect(elsewhere.text).toBe('Skill "acme/fix":\n\nHow to fix.');
  expect((await read(["plain"])).text).toContain(`in ${data}/skills)`);
});

test("the host's operational skill is always there, as for its own adapters of this kind", async () => {
  const key = "paperclipai/paperclip/paperclip";
  const entries = [...runtimeSkills, { key, runtimeName: "paperclip", source: join(data, "skills/fix") }];
  const skills = await readSkills(config([], entries), places(), new ServerFiles([data], ANYWHERE));
  expect(skills.text).toContain(`Skill "${key}"`);
});

test("links on the shared volume bring nothing of the server along", async () => {
  const outside = await mkdtemp(join(tmpdir(), "server-"));
  try {
    await writeFile(join(outside, "SKILL.md"), "the server's secret");
    await mkdir(join(data, ".example/skills/half"));
    await symlink(outside, join(data, ".example/skills/whole"));
    await symlink(join(outside, "SKILL.md"), join(data, ".example/skills/half/SKILL.md"));
    const skills = await read(["whole", "half", "own"]);
    expect(skills.warnings).toEqual([expect.stringMatching(/"whole".*leads out of/), expect.stringMatching(/"half".*leads out of/)]);
    expect(skills.text).not.toContain("secret");
    expect(skills.text).toContain("Own.");
  } finally {
    await rm(outside, { recursive: true, force: true });
    for (const name of ["whole", "half"]) await rm(join(data, ".example/skills", name), { recursive: true, force: true });
  }
});

test.each<[string, (skill: string, outside: string) => Promise<void>]>([
  ["its folder", (skill, outside) => symlink(outside, skill)],
  ["its folder, to a file", (skill, outside) => symlink(join(outside, "SKILL.md"), skill)],
  ["its text", (skill, outside) => mkdir(skill).then(() => symlink(join(outside, "SKILL.md"), join(skill, "SKILL.md")))],
])("a skill that the host has put on the volume is not read through a link in the place of %s", async (_, plant) => {
  const outside = await mkdtemp(join(tmpdir(), "server-"));
  const source = join(data, "skills/swapped");
  try {
    await writeFile(join(outside, "SKILL.md"), "the server's secret");
    await plant(source, outside);
    const entries = [...runtimeSkills, { key: "acme/swapped", runtimeName: "swapped", source }];
    const skills = await readSkills(config(["swapped", "fix"], entries), places(), new ServerFiles([data], ANYWHERE));
    expect(skills.warnings).toEqual([expect.stringMatching(/"acme\/swapped".*leads out of/)]);
    expect(skills.text).toMatch(/^Skill "acme\/fix"/);
  } finally {
    for (const path of [outside, source]) await rm(path, { recursive: true, force: true });
  }
});

test("a volume that does not answer is reported for each skill", async () => {
  const skills = await readSkills(config(["fix", "plain"]), places(), new ServerFiles([data], ANYWHERE, 0));
  expect(skills.text).toBe("");
  expect(skills.warnings).toHaveLength(2);
  expect(skills.warnings[0]).toContain("no answer within");
});

test("the host's page: what there is, what is chosen, what is missing, what people put there", async () => {
  const ctx = { agentId: "a", companyId: "c", adapterType: "example_k8s", config: config(["fix", "own", "nowhere"]) };
  const snapshot = await listSkills(ctx, checked());
  expect(snapshot).toMatchObject({
    adapterType: "example_k8s",
    supported: true,
    mode: "ephemeral",
    desiredSkills: ["acme/fix", "own", "nowhere"],
  });
  const states = Object.fromEntries(snapshot.entries.map((entry) => [entry.key, entry.state]));
  expect(states).toEqual({
    "acme/bare": "available",
    "acme/empty": "available",
    "acme/fix": "configured",
    "acme/gone": "available",
    "acme/lost": "missing",
    "acme/plain": "available",
    "note.md": "external",
    nowhere: "missing",
    own: "configured",
  });
  expect(snapshot.warnings).toEqual([expect.stringContaining('"nowhere"')]);
});

test("a new choice shows at once, wherever the host stores it", async () => {
  const ctx = { agentId: "a", companyId: "c", adapterType: "example_k8s", config: config([]) };
  expect((await syncSkills(ctx, ["plain"], checked())).desiredSkills).toEqual(["acme/plain"]);
  expect((await listSkills(ctx, checked())).desiredSkills).toEqual([]);
});

test("no folder of people's own is no trouble", async () => {
  const snapshot = await listSkills({ adapterType: "example_k8s", config: config([]) }, checked(join(data, "none")));
  expect(snapshot.entries).toHaveLength(runtimeSkills.length);
});

test("our types fit the host's", () => {
  expectTypeOf<AdapterSkillContext>().toExtend<SkillContext>();
  expectTypeOf<SkillSnapshot>().toExtend<AdapterSkillSnapshot>();
});
