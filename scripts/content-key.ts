import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Of these folders nothing gets into a package: made anew by the build, or for tests only. */
const LEFT_OUT = new Set(["node_modules", "dist", "generated", "fixtures", "testing"]);
const BESIDE = ["scripts/build.ts", "scripts/generate.ts", "package-lock.json", "tsconfig.json"];

/** A name that is another one as soon as a source of our packages, the build or a dependency is. */
export function contentKey(root: string): string {
  const hash = createHash("sha256").update(process.version);
  for (const file of [...sourcesIn(root, "packages"), ...BESIDE.filter((name) => existsSync(join(root, name)))])
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : sourcesIn(root, path);
      return entry.name.endsWith(".test.ts") ? [] : [path];
    });
}
