import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Short name for these inputs together. */
export function contentHash(parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex").slice(0, 16);
}

export function filesHash(paths: readonly string[]): string {
  return contentHash(paths.map((path) => readFileSync(path)));
}
