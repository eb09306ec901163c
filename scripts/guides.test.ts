import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { adapters, type CliName, cliNames, loadKits } from "../packages/adapters.ts";
import { typedProblems } from "../packages/paperclip/src/policy/for-agent.ts";
import { parsePolicy } from "../packages/paperclip/src/policy/parse-policy.ts";
import { DEFAULT_POLICY } from "../packages/paperclip/src/policy/policy.ts";
import { FIXED, OVERRIDABLE } from "../packages/paperclip/src/prepare/environment/fact-overrides.ts";
import type { Field } from "../packages/paperclip/src/settings/field.ts";
import { parseConfig } from "../packages/paperclip/src/settings/parse.ts";
import type { SettingsOwner } from "../packages/paperclip/src/settings/schema.ts";
import { RUNNER_EXIT } from "../packages/runner/src/records.ts";
import { errorCodes } from "./docs/error-codes.ts";

const kits = await loadKits();
const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

const troubleshooting = read("docs/troubleshooting.md");

/** What stands between a heading and the next of its kind. */
function section(page: string, heading: string): string {
  const from = page.indexOf(`\n## ${heading}\n`);
  if (from < 0) throw new Error(`no heading "${heading}"`);
  const to = page.indexOf("\n## ", from + 1);
  return page.slice(from, to < 0 ? undefined : to);
}

test("the troubleshooting page has a row for each error code of the source, and for no other", () => {
  const firstCells = section(troubleshooting, "Error codes").match(/^\| (`[^|]+) \|/gm) ?? [];
  const listed = firstCells.flatMap((cell) => [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, code]) => code ?? ""));
  const known = errorCodes(root);
  // The scan itself must find something.
  expect(known).toEqual(
    expect.arrayContaining(["timeout", "k8s_oom_killed", "k8s_pod_schedule_failed", "claude_truncated", "provider_quota"]),
  );
  // A code may have a second row for one message of it.
  expect([...new Set(listed)].sort()).toEqual(known);
});

test("the troubleshooting page names the runner's own exit codes", () => {
  const text = section(troubleshooting, "Error codes");
  const missing = Object.values(RUNNER_EXIT).filter((code) => !new RegExp(`\\b${code}\\b`).test(text));
  expect(missing).toEqual([]);
});

test("the guide to settings says of each variable of the host whether an agent's own value counts", () => {
  const text = section(read("docs/configure.md"), "Override what Paperclip says about a run");
  const row = (name: string) => text.split("\n").find((line) => line.includes(`\`${name}\``)) ?? "";
  for (const name of OVERRIDABLE) expect(row(name)).toContain("| overrides");
  for (const [name, why] of Object.entries(FIXED)) expect(row(name)).toContain(`| not used: ${why} |`);
});

test("the policy guide's examples are valid, and its tables have every key", async () => {
  const { load } = await import("js-yaml");
  const page = read("docs/policy.md");
  const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
  expect(blocks.length).toBeGreaterThan(1);
  const own = cliNames.flatMap((name) => Object.values<Field<unknown>>(kits[name].cli.settings.own));
  for (const { policy, problems } of blocks.map((text) => parsePolicy(load(text), "example")))
    expect([...problems, ...typedProblems(policy, own, () => true)]).toEqual([]);
  const { source: _, ...sections } = DEFAULT_POLICY;
  const keys = Object.entries(sections).flatMap(([name, values]) =>
    values === null || Object.keys(values).length === 0 ? [name] : Object.keys(values).map((key) => `${name}.${key}`),
  );
  const table = page.slice(page.indexOf("## Every key"));
  const rows = (table.match(/^\| `.*$/gm) ?? []).map((row) => row.split("|")[1] ?? "");
  expect(rows.flatMap((cell) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, key]) => key)).sort()).toEqual(keys.sort());
});

const examples = [
  ...read("docs/configure.md").matchAll(new RegExp(`^\`\`\`json(?: (${cliNames.join("|")}))?\\n([\\s\\S]*?)^\`\`\`$`, "gm")),
].map(([, adapter, text = ""], index) => ({ name: `${index + 1}: ${text.trim().slice(0, 60).replaceAll("\n", " ")}`, adapter, text }));

test("the configuration guide has examples", () => expect(examples.length).toBeGreaterThan(10));

test.each(examples)("the adapters take example $name", ({ adapter, text }) => {
  for (const each of adapter === undefined ? cliNames : [adapter as CliName]) {
    const settings = JSON.parse(text) as Record<string, unknown>;
    expect(parseConfig(settings, {}, kits[each].cli).warnings).toEqual([]);
    for (const key of Object.keys(settings)) expect(isRead(key, kits[each].cli), `${key} is a setting of ${each}`).toBe(true);
  }
});

/** A value that no setting can have gets the field's own message, but only where the key is read. */
function isRead(key: string, cli: SettingsOwner): boolean {
  const wrong = [{ [key]: { "not ok": [] } }, { [key]: "\0" }];
  return wrong.some((settings) => {
    try {
      return !parseConfig(settings, {}, cli).warnings.every((text) => text.includes("is not a setting of this adapter"));
    } catch {
      return true;
    }
  });
}

test("the install guide makes the Secrets that the Deployment takes", () => {
  const made = [...read("docs/install.md").matchAll(/create secret generic (\S+)/g)].map(([, name]) => name);
  const taken = [...read("deploy/deployment.yaml").matchAll(/secretRef:\s+name: (\S+)/g)].map(([, name]) => name);
  expect(new Set(made)).toEqual(new Set(taken));
});

test("the server's pod sets no fsGroup on the shared volume, as the guides say", () => {
  expect(read("deploy/deployment.yaml")).not.toMatch(/^\s*fsGroup/m);
  expect(read("docs/storage.md")).toContain("deploy/volume-ownership.yaml");
});

test("the images for agents have the CLIs that are tested, and the server's has none", () => {
  const { devDependencies } = JSON.parse(read("package.json")) as { devDependencies: Record<string, string> };
  for (const image of ["server", "agents", "tools"]) {
    for (const { npm } of Object.values(adapters)) {
      const versions = [...read(`deploy/${image}/Dockerfile`).matchAll(new RegExp(`${npm}@([\\d.]+)`, "g"))].map(([, version]) => version);
      expect(versions, `${npm} in the image of ${image}`).toEqual(image === "server" ? [] : [devDependencies[npm]]);
    }
  }
});

/** As GitHub makes them. */
function anchors(page: string): Set<string> {
  const headings = page.match(/^#+ .+$/gm) ?? [];
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, "")
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test.each(pages)("%s: each link leads somewhere", (page) => {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? "").filter((link) => !/^[a-z]+:/.test(link));
  for (const link of links) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(root, page) : resolve(root, dirname(page), path);
    expect(existsSync(target), `${link} in ${page}`).toBe(true);
    if (anchor !== undefined) expect([...anchors(readFileSync(target, "utf8"))], `${link} in ${page}`).toContain(anchor);
  }
});

test("the files of the walk through one run are there", () => {
  const walk = section(read("CONTRIBUTING.md"), "The walk: one run, file by file");
  const files = [...walk.matchAll(/^\| `(packages[^`<]+)` \|/gm)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test("the glossary stays short", () => {
  expect(section(read("CONTRIBUTING.md"), "Glossary").match(/^\| [^|-]/gm)?.length).toBeLessThanOrEqual(26);
});
