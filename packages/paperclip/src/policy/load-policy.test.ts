import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadPolicy } from "./load-policy.ts";
import { DEFAULT_POLICY } from "./policy.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "policy-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const load = (path: string, env: NodeJS.ProcessEnv = {}) => loadPolicy({ PAPERCLIP_K8S_POLICY: path, ...env });

test("without a file the defaults are in force", async () => {
  expect(await loadPolicy({})).toBe(DEFAULT_POLICY);
  expect(await load("  ")).toBe(DEFAULT_POLICY);
});

test("YAML and JSON are read, and the policy knows its file", async () => {
  const yaml = write("p.yaml", "# ours\nallow:\n  namespaces: [agents]\n");
  const json = write("p.json", '{"allow": {"namespaces": ["agents"]}}');
  for (const path of [yaml, json])
    expect(await load(path)).toMatchObject({ source: path, allow: { namespaces: ["agents"], images: ["*"] } });
});

test("a changed file counts at once, also when a ConfigMap's links are exchanged", async () => {
  const path = write("p.yaml", "allow: { namespaces: [a] }");
  expect((await load(path)).allow.namespaces).toEqual(["a"]);
  const first = await load(path);
  expect(await load(path)).toBe(first);
  writeFileSync(path, "allow: { namespaces: [a, b] }");
  expect((await load(path)).allow.namespaces).toEqual(["a", "b"]);

  for (const version of ["1", "2"]) {
    mkdirSync(join(folder, `..v${version}`));
    writeFileSync(join(folder, `..v${version}`, "policy.yaml"), `allow: { namespaces: [v${version}] }`);
  }
  symlinkSync("..v1", join(folder, "..data"));
  symlinkSync("..data/policy.yaml", join(folder, "policy.yaml"));
  expect((await load(join(folder, "policy.yaml"))).allow.namespaces).toEqual(["v1"]);
  symlinkSync("..v2", join(folder, "..next"));
  renameSync(join(folder, "..next"), join(folder, "..data"));
  expect((await load(join(folder, "policy.yaml"))).allow.namespaces).toEqual(["v2"]);
});

test("a file that cannot be used is an error, never the defaults", async () => {
  const refused = (path: string, env?: NodeJS.ProcessEnv) => load(path, env).then(String, ({ message }: Error) => message);
  expect(await refused(join(folder, "absent.yaml"))).toBe(
    `PAPERCLIP_K8S_POLICY: the operator's policy ${join(folder, "absent.yaml")} cannot be used, so no run is started: there is no such file`,
  );
  expect(await refused(folder)).toContain("no run is started");
  expect(await refused(write("broken.yaml", "allow: [\n"))).toMatch(/no run is started: .* \(line \d\)$/);
  expect(await refused(write("wrong.yaml", "allow: { image: [a] }\nlimits: 5\n"))).toContain(
    "allow.image: there is no such key; did you mean images?; limits: must be an object, not a number",
  );
  expect(await refused(write("large.yaml", `# ${"x".repeat(300_000)}`))).toContain("larger than 256 KiB");
});

test("a file that was good and is broken now stops runs", async () => {
  const path = write("p.yaml", "allow: { namespaces: [a] }");
  await load(path);
  writeFileSync(path, "allow: 5");
  await expect(load(path)).rejects.toThrow("allow: must be an object, not a number");
});

test("a file where agents can write is refused, also through a link", async () => {
  const home = join(folder, "home");
  mkdirSync(home);
  const path = join(home, "p.yaml");
  writeFileSync(path, "allow: { inheritAll: true }");
  symlinkSync(path, join(folder, "link.yaml"));
  symlinkSync(home, join(folder, "alias"));
  await expect(load(path, { PAPERCLIP_HOME: home })).rejects.toThrow(`it lies below ${home}, where agents can write`);
  await expect(load(join(folder, "link.yaml"), { PAPERCLIP_HOME: `${home}/` })).rejects.toThrow("where agents can write");
  await expect(load(join(folder, "alias/p.yaml"), { PAPERCLIP_HOME: home })).rejects.toThrow("where agents can write");
});
