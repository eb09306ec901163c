// `node scripts/rules/stable-names.ts [folder of a checkout]`: names that operators, the host and older versions rely on, one per line.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { productSources, ROOT } from "./sources.ts";

/** Settings, error codes, codes of checks, labels, annotations and flags, each with its kind. They come from pages that are generated from the source or compared with it. */
export function stableNames(root: string = ROOT): string[] {
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const adapters = readdirSync(join(root, "packages")).filter((name) => name.startsWith("adapter-"));
  const product = [...adapters, "engine", "runner", "paperclip", "cli"]
    .flatMap((name) => productSources(name, root))
    .map(({ text }) => text);
  const troubleshooting = read("docs/troubleshooting.md");
  const names = {
    setting: firstCells(
      ["docs/settings.md", "README.md", ...adapters.map((name) => `packages/${name}/README.md`)].map(readIfThere(read)).join("\n"),
    ),
    code: firstCells(troubleshooting.slice(troubleshooting.indexOf("\n## Error codes\n"))),
    check: firstCells(read("docs/test-environment.md")),
    key: product.flatMap((text) => text.match(/\b(?:paperclip|kubernetes)\.io\/[a-z-]+/g) ?? []),
    flag: read("packages/cli/src/help.ts").match(/--[a-z][a-z-]+/g) ?? [],
  };
  return [...new Set(Object.entries(names).flatMap(([kind, found]) => found.map((name) => `${kind} ${name}`)))].sort();
}

const readIfThere =
  (read: (path: string) => string) =>
  (path: string): string => {
    try {
      return read(path);
    } catch {
      return "";
    }
  };

/** Names in backticks in the first cell of each row of the tables of a page. */
function firstCells(page: string): string[] {
  const cells = page.match(/^\| `[^|]+ \|/gm) ?? [];
  return cells.flatMap((cell) => [...cell.matchAll(/`([A-Za-z][\w.-]*)`/g)].map(([, name = ""]) => name));
}

if (process.argv[1] === import.meta.filename) console.log(stableNames(process.argv[2]).join("\n"));
