// Writes the generated parts of documents: settings, permissions, checks. With --check it only compares them. With a path it handles only that README.
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { adapters, cliNames, loadKits } from "../packages/adapters.ts";
import { between } from "./docs/between.ts";
import { builtInTables } from "./docs/built-in-settings.ts";
import { checkTable } from "./docs/checks.ts";
import { clusterRbacFile, permissionTable, rbacFile } from "./docs/permissions.ts";
import { BEGIN, withSettings } from "./docs/settings.ts";

interface Document {
  readonly path: string;
  readonly wanted: (found: string) => string;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const check = args.includes("--check");
const otherReadme = args.find((arg) => !arg.startsWith("--"));

const kits = await loadKits();
const readme = (path: string, cli = cliNames[0]): Document => ({
  path,
  wanted: (found) => (path === "README.md" || found.includes(BEGIN) || otherReadme === path ? withSettings(found, kits[cli].cli) : found),
});
const documents: readonly Document[] = [
  readme("README.md"),
  ...cliNames.map((cli) => readme(`packages/${adapters[cli].folder}/README.md`, cli)),
  { path: "deploy/rbac.yaml", wanted: rbacFile },
  { path: "deploy/rbac-cluster.yaml", wanted: clusterRbacFile },
  { path: "docs/in-place.md", wanted: (found) => between(found, "built-in settings", builtInTables(cliNames.map((cli) => kits[cli].cli))) },
  { path: "docs/permissions.md", wanted: (found) => between(found, "permissions", permissionTable()) },
  { path: "docs/test-environment.md", wanted: (found) => between(found, "checks", checkTable()) },
];

for (const { path, wanted } of otherReadme === undefined ? documents : [readme(otherReadme)]) {
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
