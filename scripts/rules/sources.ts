import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

/** One source file: its path from the project's root, and what it imports (paths from the root, or names of packages). */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** Product code of a package: everything in src/ but tests and test support. */
export function productSources(name: string, root = ROOT): Source[] {
  const folder = `packages/${name}/src`;
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !isTest(file))
    .sort()
    .map((file) => readSource(`${folder}/${file}`, root));
}

const isTest = (file: string): boolean => /-?test\.ts$|(^|\/)testing\//.test(file);

export function readSource(path: string, root = ROOT): Source {
  const text = readFileSync(join(root, path), "utf8");
  const specifiers = [...text.matchAll(/(?:^import|^export|^} from| from|import\()\s*"([^"]+)"/gm)].map(([, name = ""]) => name);
  return { path, text, imports: specifiers.map((name) => (name.startsWith(".") ? normalize(join(dirname(path), name)) : name)) };
}

/** Source without comments, so that a rule about code is not broken by a sentence about it. */
export const codeOf = ({ text }: Source): string => text.replace(/\/\*[\s\S]*?\*\/|(?<!["'`:\\])\/\/.*$/gm, "");

/** The folder a file belongs to, counted `depth` levels below src; a file directly in src is its own folder. */
export function folderOf(path: string, depth = 1): string {
  const parts = path.split("/");
  return parts.slice(0, Math.min(3 + depth, parts.length)).join("/");
}

/** Folders that import each other in a circle, as "a → b → a". */
export function circles(sources: readonly Source[], depth = 1): string[] {
  const graph = new Map<string, Set<string>>();
  const known = new Set(sources.map(({ path }) => path));
  for (const { path, imports } of sources) {
    const from = folderOf(path, depth);
    const to = imports.filter((each) => known.has(each)).map((each) => folderOf(each, depth));
    graph.set(from, new Set([...(graph.get(from) ?? []), ...to.filter((each) => each !== from)]));
  }
  const found = new Set<string>();
  const walk = (trail: readonly string[], done: Set<string>): void => {
    const last = trail.at(-1) ?? "";
    for (const next of graph.get(last) ?? []) {
      const at = trail.indexOf(next);
      if (at >= 0) found.add([...trail.slice(at), next].join(" → "));
      else if (!done.has(next)) walk([...trail, next], done);
    }
    done.add(last);
  };
  const done = new Set<string>();
  for (const folder of graph.keys()) if (!done.has(folder)) walk([folder], done);
  return [...found];
}
