// Writes the generated parts of documents: settings, permissions, checks. With --check it only compares them. With a path it handles only that page of settings.
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { cliNames, loadKits } from "../packages/adapters.ts";
import { between } from "./docs/between.ts";
import { builtInTables } from "./docs/built-in-settings.ts";
import { checkTable } from "./docs/checks.ts";
import { clusterRbacFile, permissionTable, rbacFile } from "./docs/permissions.ts";
import { settingsTables } from "./docs/settings.ts";

interface Document {
  readonly path: string;
  readonly wanted: (found: string) => string;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const check = args.includes("--check");
const otherPage = args.find((arg) => !arg.startsWith("--"));

const kits = await loadKits();
const tables = settingsTables(cliNames.map((name) => kits[name]));
const settings = (path: string): Document => ({ path, wanted: (found) => between(found, "settings", tables) });
const documents: readonly Document[] = [
  settings("docs/settings.md"),
  { path: "deploy/rbac.yaml", wanted: rbacFile },
  { path: "deploy/rbac-cluster.yaml", wanted: clusterRbacFile },
  { path: "docs/in-place.md", wanted: (found) => between(found, "built-in settings", builtInTables(cliNames.map((cli) => kits[cli].cli))) },
  { path: "docs/permissions.md", wanted: (found) => between(found, "permissions", permissionTable()) },
  { path: "docs/test-environment.md", wanted: (found) => between(found, "checks", checkTable()) },
];

for (const { path, wanted } of otherPage === undefined ? documents : [settings(otherPage)]) {
  const file = resolve(root, path);
  const found = await readFile(file, "utf8").catch(() => "");
  const text = wanted(found);
  if (found === text) continue;
  if (!check) await writeFile(file, text);
  else {
    console.error(`${path} differs from what it is made of; run: npm run docs`);
    process.exitCode = 1;
  }
}
