// `node scripts/rules/measure.ts [folder of a checkout]`: how large the product is, and in how many places each decision is made.
import { productSources, ROOT, type Source } from "./sources.ts";

const root = process.argv[2] ?? ROOT;
const packages = ["engine", "runner", "paperclip", "cli"];
const sources = new Map(packages.map((name) => [name, productSources(name, root)]));

const rows = [...sources].map(([name, files]) => {
  const folders = new Map<string, number>();
  for (const { path } of files)
    folders.set(path.slice(0, path.lastIndexOf("/")), (folders.get(path.slice(0, path.lastIndexOf("/"))) ?? 0) + 1);
  const [folder = "", count = 0] = [...folders].sort((a, b) => b[1] - a[1])[0] ?? [];
  const lines = files.map(({ text }) => text.split("\n").length - 1);
  return {
    package: name,
    files: files.length,
    lines: lines.reduce((sum, each) => sum + each, 0),
    "longest file": Math.max(...lines),
    "largest folder": `${folder.replace(/^packages\/[^/]+\//, "")} (${count})`,
  };
});
console.table(rows);
console.log(`lines in all: ${rows.reduce((sum, { lines }) => sum + lines, 0)}\n`);

const of = (...names: string[]): Source[] => names.flatMap((name) => sources.get(name) ?? []);
const places: [string, Source[], RegExp][] = [
  ["make an outcome", of("engine"), /\bOutcomeKind\b(?! =)/],
  ["write to the cluster", of("engine"), /method: "(POST|PUT|PATCH|DELETE)"/],
  ["delete a Job", of("engine"), /\bdeleteJob\(/],
  ["import node:fs on the server side, outside the volume's folder", of("engine", "paperclip"), /from "node:fs/],
  ["call the host's API", of("paperclip", "cli"), /\bfetch\(|from "node:https?"/],
  ["name a CLI", of("engine", "runner", "paperclip", "cli"), /opencode|claude|anthropic/i],
];
for (const [what, files, words] of places) {
  const found = files.filter(({ text, path }) => words.test(text) && !/engine\/src\/(volume|output)\//.test(path)).map(({ path }) => path);
  console.log(`files that ${what}: ${found.length}`);
  for (const path of found) console.log(`  ${path}`);
}
