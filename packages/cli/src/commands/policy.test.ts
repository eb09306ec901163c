import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../run-command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "policy-command-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = {
    out: (line: string) => out.push(line),
    err: (line: string) => err.push(line),
    env,
    stopped: new AbortController().signal,
  };
  const code = await runCommand(["policy", ...args], { ...terminal, now: () => 0 });
  return { code, out, err };
}

function write(text: string): string {
  const path = join(folder, "policy.yaml");
  writeFileSync(path, text);
  return path;
}

test("without a file: the defaults, each marked", async () => {
  const { code, out } = await run([]);
  expect(code).toBe(0);
  expect(out[0]).toBe("no policy file: the built-in defaults are in force");
  expect(out.find((line) => line.startsWith("allow.inheritAll "))).toMatch(/ false \(default\)$/);
  for (const line of out) expect(line.length, line).toBeLessThanOrEqual(100);
});

test("a valid file, by its path or by the server's variable: what it changes has no mark", async () => {
  const path = write("defaults: { namespace: agents }\nallow: { images: [ours/*, theirs/*] }\nforce: { labels: { team: x } }\n");
  for (const { code, out } of [await run([path]), await run([], { PAPERCLIP_K8S_POLICY: path })]) {
    expect(code).toBe(0);
    expect(out[0]).toBe(`${path} is valid; in force is:`);
    const row = (key: string) => out.find((line) => line.startsWith(`${key} `))?.replace(/ +/g, " ");
    expect(row("defaults.namespace")).toBe("defaults.namespace agents");
    expect(row("allow.images")).toBe("allow.images ours/*, theirs/*");
    expect(row("force.labels")).toBe('force.labels {"team":"x"}');
    expect(row("limits.cpu")).toBe("limits.cpu 32 (default)");
  }
});

test("what the file gives agents, and the rules for some of them", async () => {
  const rules = [
    "defaults: { resources: { limits: { memory: 4Gi } }, tools: never }",
    "agents:",
    "  - match: { name: Atlas, role: [qa, pm] }",
    "    defaults: { resources: { limits: { memory: 32Gi } } }",
    "  - { match: { type: claude_* }, defaults: { enableRtk: true } }",
  ];
  const { code, out } = await run([write(rules.join("\n"))]);
  expect(code).toBe(0);
  expect(out.slice(2, 8).map((line) => line.replace(/ +/g, " "))).toEqual([
    "defaults.resources.limits.memory 4Gi",
    "defaults.tools never",
    'agents[0].match {"name":["Atlas"],"role":["qa","pm"]}',
    "agents[0].defaults.resources.limits.memory 32Gi",
    'agents[1].match {"type":["claude_*"]}',
    "agents[1].defaults.enableRtk true",
  ]);
  const wrong = await run([write("agents: [{ match: { type: claude_* }, defaults: { enableRkt: true } }]")]);
  expect(wrong.err[0]).toMatch(/agents\[0\]\.defaults\.enableRkt: there is no such setting; did you mean enableRtk\?$/);
});

test("a file with problems: all of them, and exit code 1", async () => {
  const path = write("allow: { image: [a], inheritAll: 1 }\n");
  const { code, out, err } = await run([path]);
  expect(code).toBe(1);
  expect(out).toEqual([]);
  expect(err).toEqual([
    `${path}: allow.image: there is no such key; did you mean images?`,
    `${path}: allow.inheritAll: must be true or false, not 1`,
    "a server with this policy starts no run",
  ]);
  expect((await run([join(folder, "absent")])).err[0]).toContain("there is no such file");
  expect((await run([path], { PAPERCLIP_HOME: folder })).err.join()).toContain("where agents can write");
});

test("-o json for programs", async () => {
  const good = await run([write("allow: { retainJobs: true }"), "-o", "json"]);
  expect(JSON.parse(good.out.join("\n"))).toMatchObject({ problems: [], policy: { allow: { retainJobs: true } } });
  const bad = await run([write("a: 1"), "-o", "json"]);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.out.join("\n"))).toMatchObject({ policy: null, problems: [expect.stringContaining("a: there is no such key")] });
});
