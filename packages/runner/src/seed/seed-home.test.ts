import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { checkedSeed } from "../read-spec.ts";
import type { LeftOut, Seed } from "../records.ts";
import { cleanUp, node, preparePod } from "../testing/runner-fixture.ts";
import { seedHome } from "./seed-home.ts";

let root: string;
let from: string;
let home: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "seed-"));
  [from, home] = [join(root, "data"), join(root, "home")];
  for (const folder of [from, home]) mkdirSync(folder);
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
});

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(from, path)), { recursive: true });
  writeFileSync(join(from, path), text, { mode });
}
const seed = (files: readonly { path: string; to?: string }[], maxBytes = 1000) => seedHome({ kind: "seed", from, home, files, maxBytes });
const taken = (path: string): string => readFileSync(join(home, path), "utf8");

test("files and folders, with their modes, some under another name; what is not there is nobody's loss", async () => {
  put(".gitconfig", "[user]");
  put(".ssh/id", "key", 0o600);
  put(".tool.json", "{}");
  const answer = await seed([{ path: ".gitconfig" }, { path: ".ssh" }, { path: ".netrc" }, { path: ".tool.json", to: ".tool/.tool.json" }]);
  expect(answer).toEqual({ kind: "seeded", taken: [".gitconfig", ".ssh", ".tool.json"], problems: [], leftOut: [] });
  expect(taken(".gitconfig")).toBe("[user]");
  expect(statSync(join(home, ".ssh/id")).mode & 0o777).toBe(0o600);
  expect(taken(".tool/.tool.json")).toBe("{}");
});

test("what a link leads to is taken; a link that leads nowhere is left out", async () => {
  put("dotfiles/gitconfig", "[linked]");
  symlinkSync("dotfiles/gitconfig", join(from, ".gitconfig"));
  put(".config/git/config", "x");
  symlinkSync("nowhere", join(from, ".config/git/broken"));
  expect(await seed([{ path: ".gitconfig" }, { path: ".config/git" }])).toMatchObject({
    taken: [".gitconfig", ".config/git"],
    problems: [],
  });
  expect(taken(".gitconfig")).toBe("[linked]");
});

test("a link that leads out of the folder is not taken, nor is what is no file", async () => {
  const outside = join(root, "secret");
  writeFileSync(outside, "of somebody else");
  symlinkSync(outside, join(from, ".gitconfig"));
  put(".config/git/config", "x");
  symlinkSync(outside, join(from, ".config/git/linked"));
  symlinkSync("..", join(from, ".config/git/round"));
  execFileSync("mkfifo", [join(from, ".config/git/pipe")]);
  symlinkSync("/dev/zero", join(from, ".config/git/endless"));
  execFileSync("mkfifo", [join(from, ".netrc")]);
  const answer = await seed([{ path: ".gitconfig" }, { path: ".config/git" }, { path: ".netrc" }]);
  expect(answer).toMatchObject({ problems: [`.gitconfig (a link that leads out of ${from})`] });
  expect(readdirSync(join(home, ".config/git"))).toEqual(["config"]);
  expect(readdirSync(home)).toEqual([".config"]);
});

test("a tree that is too deep, or has too many files, is left out", async () => {
  put(`deep${"/x".repeat(30)}/f`, "");
  mkdirSync(join(from, "many"));
  for (let index = 0; index <= 10_000; index++) writeFileSync(join(from, "many", String(index)), "");
  expect(await seed([{ path: "deep" }, { path: "many" }])).toMatchObject({
    taken: [],
    problems: ["deep (more than 20 folders deep)", "many (more than 10000 files)"],
  });
  expect(readdirSync(home)).toEqual([]);
});

test("the keys of a Secret are paths, as the cluster mounts them; none leads out of the home", async () => {
  put("..2026_01/.ssh__id", "key");
  put("..2026_01/.tool.json", "{}");
  symlinkSync("..2026_01", join(from, "..data"));
  for (const key of [".ssh__id", ".tool.json"]) symlinkSync(`..data/${key}`, join(from, key));
  for (const key of [".__.__escape", "a__..__..__b", "__etc"]) put(key, "x");
  const answer = await seedHome({
    kind: "seed",
    from,
    home,
    files: [{ path: ".tool.json", to: ".tool/.tool.json" }],
    secret: "logins",
    maxBytes: 1000,
  });
  expect(answer).toEqual({ kind: "seeded", taken: [".ssh/id", ".tool.json"], problems: [], leftOut: [] });
  expect(taken(".ssh/id")).toBe("key");
  expect(statSync(join(home, ".ssh/id")).mode & 0o777).toBe(0o600);
  expect(taken(".tool/.tool.json")).toBe("{}");
  expect(readdirSync(root).sort()).toEqual(["data", "home"]);
});

test("what is too large is left out whole and named; the others come along", async () => {
  put(".config/tool/large", "x".repeat(2000));
  put(".gitconfig", "small");
  const answer = await seed([{ path: ".config/tool" }, { path: ".gitconfig" }]);
  expect(answer).toMatchObject({ taken: [".gitconfig"], problems: [".config/tool (2000 bytes, too large)"] });
  expect(() => taken(".config/tool/large")).toThrow("ENOENT");
});

test("once it is given up, nothing changes in the home", async () => {
  put(".gitconfig", "[user]");
  mkdirSync(join(home, ".gitconfig"));
  const files = [{ path: ".gitconfig" }];
  await expect(seedHome({ kind: "seed", from, home, files, maxBytes: 1000 }, () => true)).rejects.toThrow("given up");
  expect(statSync(join(home, ".gitconfig")).isDirectory()).toBe(true);
});

describe("entries that another program left in a JSON file", () => {
  const grant: LeftOut = { file: "settings.json", at: ["permission", "outside"], is: "allow", why: "an earlier program wrote it" };
  const entry = { matcher: ".*", hooks: [{ command: "node /tmp/gone.js" }] };
  const hook: LeftOut = { file: "settings.json", at: ["hooks", null, null], is: entry, why: "its script is gone" };
  const settings = (value: unknown) => put(".tool/settings.json", typeof value === "string" ? value : JSON.stringify(value), 0o600);
  const take = (files: readonly Seed[] = [{ path: ".tool", without: [grant, hook] }], maxBytes = 9e6) =>
    seedHome({ kind: "seed", from, home, files, maxBytes });

  test("are left out of the copy, with what is empty without them; the file stays as it is, and so does all the rest", async () => {
    const own = { matcher: "Bash", hooks: [{ command: "true" }] };
    const given = { permission: { outside: "allow" }, hooks: { After: [entry, own, entry], Before: [entry] }, model: "m" };
    settings(given);
    put(".tool/other.json", JSON.stringify(given));
    expect(await take()).toMatchObject({
      taken: [".tool"],
      leftOut: [
        ".tool/settings.json: permission.outside (an earlier program wrote it)",
        ...["After.0", "After.2", "Before.0"].map((at) => `.tool/settings.json: hooks.${at} (its script is gone)`),
      ],
    });
    expect(JSON.parse(taken(".tool/settings.json"))).toEqual({ hooks: { After: [own] }, model: "m" });
    expect(statSync(join(home, ".tool/settings.json")).mode & 0o777).toBe(0o600);
    expect(taken(".tool/other.json")).toBe(JSON.stringify(given));
    expect(JSON.parse(readFileSync(join(from, ".tool/settings.json"), "utf8"))).toEqual(given);
  });

  test.each([
    ["another value", '{ "permission": { "outside": "deny" } }'],
    ["a changed entry", `{"hooks":{"After":[${JSON.stringify({ ...entry, matcher: "Bash" })}]}}`],
    ["other shapes on the way", '{"permission":"allow","hooks":[1,null,"x",[]]}'],
    ["no object at all", "[null]"],
    ["no JSON", '{"permission": {"outside": "allow"'],
    ["nothing", ""],
    ["JSON that is deeper than a program can go", "[".repeat(200_000)],
    ["keys that mean something to JavaScript", '{"__proto__":{"permission":{"outside":"allow"}},"constructor":1}'],
    ["a file that is too large", `{"permission":{"outside":"allow"},"x":"${"x".repeat(1024 * 1024)}"}`],
  ])("%s is copied byte for byte", async (_, text) => {
    settings(text);
    expect(await take()).toMatchObject({ taken: [".tool"], leftOut: [], problems: [] });
    expect(taken(".tool/settings.json")).toBe(text);
  });

  test("a file of very many branches costs little and may keep what is behind them", async () => {
    settings({ hooks: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`e${index}`, [1]])) });
    expect(await take()).toMatchObject({ taken: [".tool"], leftOut: [] });
  });

  test("what an operator has put into a Secret is copied as it is", async () => {
    put(".tool__settings.json", '{"permission":{"outside":"allow"}}');
    const answer = await seedHome({
      kind: "seed",
      from,
      home,
      files: [{ path: ".tool", without: [grant] }],
      secret: "logins",
      maxBytes: 1000,
    });
    expect(answer).toMatchObject({ taken: [".tool/settings.json"], leftOut: [] });
  });
});

test.each([
  [{ files: [{ path: "x", without: [{ file: 1 as never, at: [], is: 1, why: "" }] }] }, "seed.files"],
  [{ from: "data" }, "seed.from"],
  [{ home: "home" }, "seed.home"],
  [{ files: [{ path: "../x" }] }, "seed.files"],
  [{ files: [{ path: "x", to: "/x" }] }, "seed.files"],
  [{ maxBytes: -1 }, "seed.maxBytes"],
])("a spec with %j is refused", (change, field) => {
  expect(() => checkedSeed({ from: "/data", home: "/home", files: [], maxBytes: 1, ...change })).toThrow(field);
});

test("the runner takes them before the CLI starts and names them", async () => {
  onTestFinished(cleanUp);
  put(".gitconfig", "[user]");
  put(".tool.json", '{"grant":"all"}');
  const without = [{ file: "", at: ["grant"], is: "all", why: "an earlier program wrote it" }];
  const spec = { seed: { from, home, files: [{ path: ".gitconfig" }, { path: ".ssh" }, { path: ".tool.json", without }], maxBytes: 1000 } };
  const argv = node(`console.log(require("node:fs").readFileSync(${JSON.stringify(join(home, ".gitconfig"))}, "utf8"))`);
  const ended = await preparePod({ argv, spec }).start().ended;
  expect(ended).toMatchObject({ code: 0, stdout: Buffer.from("[user]\n") });
  expect(ended.meta).toContainEqual(expect.objectContaining({ type: "note", text: `taken over from ${from}: .gitconfig, .tool.json` }));
  const text = `left out of what was taken over from ${from}: .tool.json: grant (an earlier program wrote it)`;
  expect(ended.meta).toContainEqual(expect.objectContaining({ type: "note", text }));
  expect(taken(".tool.json")).toBe("{}\n");
});
